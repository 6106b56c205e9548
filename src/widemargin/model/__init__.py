"""Trained models on disk: the `.wm` file, LIBLINEAR's text format, and the way back into scikit-learn."""

from .model import Model as Model
from .open import load_model as load_model

__all__ = ["Model", "load_model"]
