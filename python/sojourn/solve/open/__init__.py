"""Open networks: Jackson, open multiclass, QNA."""

from sojourn.solve.open import product, qna

METHODS = (product.JACKSON, product.MULTICLASS, qna.METHOD)
