"""Files of tagged tokens: CoNLL columns with a template, and CRFsuite's attributes."""
