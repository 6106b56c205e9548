"""Rows on disk: files of encoded chunks, written in bounded memory and read again and again."""
