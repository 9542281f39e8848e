/* SPDX-License-Identifier: Apache-2.0 */

/* Where frames lie: rows of rectangles in fractions of the width, without those too small to see.
 * Knows the model; does not draw. */

class Layout {
    /* rows[depth]: arrays of nodes and of their left and right edges. */
    constructor(model, side, zoom, width) {
        this.rows = [];
        this.zoom = zoom;
        this.nrFrames = 0;
        const { total } = model.sides[side];
        const least = 0.4 / Math.max(width, 1);
        this.addPath(model, zoom);
        const whole = total[zoom];
        if (!whole)
            return;
        const stack = [[zoom, 0]];
        while (stack.length) {
            const [node, left] = stack.pop();
            let x = left;
            for (let i = model.childStart[node]; i < model.childStart[node + 1]; i++) {
                const child = model.children[i], share = total[child] / whole;
                if (share >= least) {
                    this.add(model.depth[child], child, x, x + share);
                    stack.push([child, x]);
                }
                x += share;
            }
        }
        this.rows.forEach((row) => Layout.sortRow(row));
    }

    /* The frames outside of the zoomed one are as wide as all. */
    addPath(model, zoom) {
        this.add(0, 0, 0, 1);
        for (const node of model.path(zoom))
            this.add(model.depth[node], node, 0, 1);
    }

    add(depth, node, left, right) {
        const row = this.rows[depth] ??= { nodes: [], left: [], right: [] };
        row.nodes.push(node);
        row.left.push(left);
        row.right.push(right);
        this.nrFrames++;
    }

    static sortRow(row) {
        const order = row.nodes.map((_, i) => i).sort((a, b) => row.left[a] - row.left[b]);
        for (const key of ["nodes", "left", "right"])
            row[key] = order.map((i) => row[key][i]);
    }

    /* Index in the row of the frame that holds x; -1: none. */
    indexAt(depth, x) {
        const row = this.rows[depth];
        if (!row)
            return -1;
        let low = 0, high = row.nodes.length - 1;
        while (low <= high) {
            const middle = (low + high) >> 1;
            if (row.right[middle] <= x)
                low = middle + 1;
            else if (row.left[middle] > x)
                high = middle - 1;
            else
                return middle;
        }
        return -1;
    }

    /* Depth and index of a node; null where it is not drawn. */
    find(node, depth) {
        const index = this.rows[depth]?.nodes.indexOf(node) ?? -1;
        return index < 0 ? null : { depth, index };
    }
}
