"""Open networks: Jackson, open multiclass, QNA."""

from sojourn.solve.open import jackson_bcmp, qna

METHODS = (jackson_bcmp.JACKSON, jackson_bcmp.MULTICLASS, qna.METHOD)
