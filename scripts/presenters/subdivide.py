"""Catmull-Clark subdivision's limit, as a matrix."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix


def limit_matrix(count: int, faces: NDArray[np.int64]) -> csr_matrix:
    """(count, count): limit position of each vertex of a mesh of quads `faces` (F, 4) from control points.

    With k neighbours q and opposite corners o the limit is (k² p + 4 Σq + Σo) / (k (k + 5)). Vertices at an
    open edge, and those of no face, stay where they are.
    """
    ends = np.concatenate([faces[:, (k, (k + 1) % 4)] for k in range(4)])
    edges, uses = np.unique(np.sort(ends, axis=1), axis=0, return_counts=True)
    valence = np.bincount(edges.ravel(), minlength=count)
    inner = valence > 0
    inner[edges[uses == 1]] = False
    inner &= np.bincount(faces.ravel(), minlength=count) == valence
    share = np.where(inner, 1 / np.maximum(valence * (valence + 5.0), 1), 0)
    center = np.where(inner, valence**2 * share, 1.0)
    around = np.concatenate([edges, edges[:, ::-1]])
    across = np.concatenate([faces[:, (k, (k + 2) % 4)] for k in range(4)])
    rows = np.concatenate([np.arange(count), around[:, 0], across[:, 0]])
    columns = np.concatenate([np.arange(count), around[:, 1], across[:, 1]])
    values = np.concatenate([center, 4 * share[around[:, 0]], share[across[:, 0]]])
    matrix = coo_matrix((values, (rows, columns)), shape=(count, count)).tocsr()
    matrix.eliminate_zeros()
    return matrix
