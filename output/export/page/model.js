/* SPDX-License-Identifier: Apache-2.0 */

/* Sums over the tree of calls for a choice of event, threads and time. Knows no pixels. */

class Sums {
    constructor(nrNodes, nrFunctions) {
        this.total = new Float64Array(nrNodes);
        this.self = new Float64Array(nrNodes);
        this.samples = new Float64Array(nrNodes);
        this.fnTotal = new Float64Array(nrFunctions);
        this.fnSelf = new Float64Array(nrFunctions);
        this.fnSamples = new Float64Array(nrFunctions);
        this.squares = new Float64Array(nrNodes);
        this.fnSelfSquares = new Float64Array(nrFunctions);
        this.products = new Float64Array(nrNodes);
        this.fnSelfProducts = new Float64Array(nrFunctions);
        this.ofSamples = new Float64Array(nrNodes);
        this.fnSelfOfSamples = new Float64Array(nrFunctions);
    }

    /* Squares are then those of whole runs, `ofSamples` those of samples, products those with all
     * that a run spent. */
    addRun(run) {
        for (const name of ["total", "self", "samples", "fnTotal", "fnSelf", "fnSamples"])
            run[name].forEach((value, i) => { this[name][i] += value; });
        run.squares.forEach((value, i) => { this.ofSamples[i] += value; });
        run.fnSelfSquares.forEach((value, i) => { this.fnSelfOfSamples[i] += value; });
        const all = run.total[0];
        const spread = (values, squares, products) => values.forEach((value, i) => {
            squares[i] += value * value;
            products[i] += value * all;
        });
        spread(run.total, this.squares, this.products);
        spread(run.fnSelf, this.fnSelfSquares, this.fnSelfProducts);
    }

    clear() {
        for (const array of Object.values(this))
            array.fill(0);
    }
}

/* 97.5 % of a normal and of Student's distribution lie below: as output/analysis/compare/change.c. */
const DEVIATIONS = 1.959964;
const STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

function student(freedom) {
    const z = DEVIATIONS, row = Math.floor(freedom), part = freedom - row;
    if (!(freedom > 1))
        return STUDENT[0];
    if (freedom >= 10)
        return z + (z ** 3 + z) / (4 * freedom) +
            (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
    return 1 / ((1 - part) / STUDENT[row - 1] + part / STUDENT[row]);
}

/* Where the nodes of each key begin, and all nodes but the root, in their order and key by key. */
function listsBy(keys, nrKeys) {
    const start = new Uint32Array(nrKeys + 1);
    for (let i = 1; i < keys.length; i++)
        start[keys[i] + 1]++;
    for (let i = 0; i < nrKeys; i++)
        start[i + 1] += start[i];
    const next = start.slice();
    const nodes = new Uint32Array(Math.max(keys.length - 1, 0));
    for (let i = 1; i < keys.length; i++)
        nodes[next[keys[i]]++] = i;
    return [start, nodes];
}

class Model {
    constructor(data) {
        this.data = data;
        this.nrNodes = data.parent.length;
        this.nrFunctions = data.names.length;
        this.sides = [data.isDiff ? new Sums(this.nrNodes, this.nrFunctions) : null,
                      new Sums(this.nrNodes, this.nrFunctions)];
        this.run = data.runs[1] ? new Sums(this.nrNodes, this.nrFunctions) : null;
        this.isByRun = data.isDiff;
        this.event = 0;
        this.threads = null;
        this.from = 0;
        this.to = data.nrSlices;
        this.linkChildren();
        this.markRecursion();
        this.listNodes();
    }

    /* Lists of children, in the order of nodes until `sortChildren`. */
    linkChildren() {
        const { parent } = this.data;
        [this.childStart, this.children] = listsBy(parent, this.nrNodes);
        this.depth = new Uint32Array(this.nrNodes);
        for (let i = 1; i < this.nrNodes; i++)
            this.depth[i] = this.depth[parent[i]] + 1;
    }

    /* repeated[node]: its function is already further out on the path. */
    markRecursion() {
        const { fn } = this.data;
        this.repeated = new Uint8Array(this.nrNodes);
        const onPath = new Uint32Array(this.nrFunctions);
        const stack = [0], at = [this.childStart[0]];
        while (stack.length) {
            const top = stack.length - 1, node = stack[top];
            if (at[top] < this.childStart[node + 1]) {
                const child = this.children[at[top]++];
                this.repeated[child] = onPath[fn[child]]++ ? 1 : 0;
                stack.push(child);
                at.push(this.childStart[child]);
            } else {
                if (node)
                    onPath[fn[node]]--;
                stack.pop();
                at.pop();
            }
        }
    }

    /* Lists of the nodes of each function. */
    listNodes() {
        [this.nodeStart, this.nodes] = listsBy(this.data.fn, this.nrFunctions);
    }

    compute() {
        const { threads, groups, runs } = this.data;
        const chosen = groups.filter(({ event, thread }) =>
            event === this.event && (!this.threads || this.threads.has(thread)));
        this.sides.forEach((sums, side) => {
            const mine = chosen.filter(({ thread }) => threads[thread].side === side);
            sums?.clear();
            if (sums && !this.run)
                this.addGroups(mine, sums);
            for (let run = 0; run < runs[side]; run++) {
                this.run.clear();
                this.addGroups(mine.filter(({ thread }) => threads[thread].run === run), this.run);
                sums.addRun(this.run);
            }
        });
    }

    addGroups(groups, sums) {
        for (const group of groups)
            this.addGroup(group, sums);
        this.sumUp(sums);
    }

    addGroup({ count, leaf, slice, weight, samples, squares }, sums) {
        const { leafNode, fn } = this.data;
        const { self, samples: counts } = sums;
        const { from, to } = this;
        for (let i = 0; i < count; i++) {
            if (slice[i] < from || slice[i] >= to)
                continue;
            const node = leafNode[leaf[i]];
            self[node] += weight[i];
            counts[node] += samples[i];
            sums.squares[node] += squares[i];
            sums.fnSelfSquares[fn[node]] += squares[i];
        }
    }

    /* From the leaves to the root: a parent has a smaller number than its children. */
    sumUp(sums) {
        const { parent, fn } = this.data;
        const { total, self, samples, squares, fnTotal, fnSelf, fnSamples } = sums;
        total.set(self);
        for (let i = this.nrNodes - 1; i > 0; i--) {
            const up = parent[i];
            if (!total[i])
                continue;
            fnSelf[fn[i]] += self[i];
            if (!this.repeated[i]) {
                fnTotal[fn[i]] += total[i];
                fnSamples[fn[i]] += samples[i];
            }
            total[up] += total[i];
            samples[up] += samples[i];
            squares[up] += squares[i];
        }
    }

    /* The greatest first; what is equal stays in the order of the document. */
    sortChildren(side) {
        const { total } = this.sides[side], other = this.sides[1 - side]?.total;
        const order = (a, b) => total[b] - total[a] || (other ? other[b] - other[a] : 0) || a - b;
        for (let i = 0; i < this.nrNodes; i++) {
            const from = this.childStart[i], to = this.childStart[i + 1];
            if (to - from > 1)
                this.children.subarray(from, to).sort(order);
        }
    }

    /* Share of what is looked at, 0 to 1. */
    share(side, value) {
        const whole = this.sides[side]?.total[0];
        return whole ? value / whole : 0;
    }

    /* What is compared: what was spent a run, or the share. */
    value(side, weight) {
        return this.isByRun ? weight / this.data.nrRuns[side] : this.share(side, weight);
    }

    /* A value, or a change of one, as text. */
    amount(value) {
        const unit = this.data.events[this.event]?.unit ?? "";
        return this.isByRun ? inUnit(value, unit) : percent(value);
    }

    /* An estimate of a value and its variance: as output/fold/change.h says. */
    estimate(side, sum) {
        return (this.run && this.ofRuns(side, sum)) || this.estimateOfSamples(side, sum);
    }

    /* Null of runs that are all alike, which are so by their few samples. */
    ofRuns(side, { weight, squares, products }) {
        const { total, squares: allSquares } = this.sides[side], runs = this.data.runs[side];
        const inOne = this.data.nrRuns[side] / runs, base = this.isByRun ? runs * inOne : total[0];
        const [product, baseSquares] = this.isByRun ? [weight * inOne, runs * inOne ** 2]
            : [products, allSquares[0]];
        const centre = base ? weight / base : 0;
        const spread = squares - 2 * centre * product + centre ** 2 * baseSquares;
        return spread > 1e-9 * squares
            ? { centre, freedom: runs - 1, variance: runs / (runs - 1) * spread / base ** 2 } : null;
    }

    estimateOfSamples(side, { weight, squares, ofSamples }) {
        const sums = this.sides[side], whole = sums.total[0];
        const own = this.run ? ofSamples : squares;
        const allSquares = this.run ? sums.ofSamples[0] : sums.squares[0];
        const more = whole ? allSquares / whole : 0, runs = this.data.nrRuns[side];
        if (this.isByRun)
            return { centre: weight / runs, variance: (own + more ** 2) / runs ** 2 };
        if (!whole)
            return { centre: 0.5, variance: 0.125 };
        const trials = whole + 2 * more, centre = (weight + more) / trials;
        const inside = own + more ** 2, outside = Math.max(allSquares - own, 0) + more ** 2;
        return { centre,
                 variance: ((1 - centre) ** 2 * inside + centre ** 2 * outside) / trials ** 2 };
    }

    /* The change of a value from before to after, whether it is more than noise, and how far it
     * reaches. */
    change(sums) {
        const [before, after] = sums.map(({ weight }, side) => this.value(side, weight));
        const [first, second] = sums.map((sum, side) => this.estimate(side, sum));
        const variance = first.variance + second.variance;
        /* Welch's degrees of freedom. */
        const parts = [first, second].reduce((sum, one) =>
            sum + (one.freedom ? one.variance ** 2 / one.freedom : 0), 0);
        const quantile = parts > 0 ? student(variance ** 2 / parts) : DEVIATIONS;
        const reach = quantile * Math.sqrt(variance);
        return { before, after, change: after - before, reach,
                 isNoise: Math.abs(second.centre - first.centre) <= reach };
    }

    nodeChange(node) {
        return this.change(this.sides.map(({ total, squares, products, ofSamples }) => ({
            weight: total[node], squares: squares[node], products: products[node], ofSamples: ofSamples[node],
        })));
    }

    /* Functions whose name matches, and the share of samples that have one of them on the stack. */
    search(regex, side) {
        const matches = new Uint8Array(this.nrFunctions);
        let nrMatches = 0;
        for (let i = 0; i < this.nrFunctions; i++) {
            matches[i] = regex.test(this.data.names[i]) ? 1 : 0;
            nrMatches += matches[i];
        }
        return { matches, nrMatches, share: this.shareOf(matches, side) };
    }

    shareOf(matches, side) {
        const { parent, fn } = this.data, { total } = this.sides[side];
        const covered = new Uint8Array(this.nrNodes);
        let sum = 0;
        for (let i = 1; i < this.nrNodes; i++) {
            covered[i] = covered[parent[i]];
            if (!covered[i] && matches[fn[i]]) {
                covered[i] = 1;
                sum += total[i];
            }
        }
        return this.share(side, sum);
    }

    /* Who calls a function, whom it calls: per neighbour the weight of the samples with that call. */
    neighbours(which, side) {
        const { parent, fn } = this.data, { total } = this.sides[side];
        const callers = new Map(), callees = new Map();
        const add = (map, other, value) => map.set(other, (map.get(other) ?? 0) + value);
        for (let i = this.nodeStart[which]; i < this.nodeStart[which + 1]; i++) {
            const node = this.nodes[i], up = parent[node];
            if (!total[node])
                continue;
            if (up && !this.hasCallAbove(up, fn[up], which))
                add(callers, fn[up], total[node]);
            for (let at = this.childStart[node]; at < this.childStart[node + 1]; at++) {
                const child = this.children[at];
                if (total[child] && !this.hasCallAbove(node, which, fn[child]))
                    add(callees, fn[child], total[child]);
            }
        }
        const sorted = (map) => [...map].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
        return { callers: sorted(callers), callees: sorted(callees) };
    }

    /* Whether a node on the path to `node` is `callee` and called by `caller`. */
    hasCallAbove(node, caller, callee) {
        const { parent, fn } = this.data;
        if (!this.repeated[node])
            return false;
        for (let at = node; at && parent[at]; at = parent[at]) {
            if (fn[at] === callee && fn[parent[at]] === caller)
                return true;
        }
        return false;
    }

    path(node) {
        const path = [];
        for (; node; node = this.data.parent[node])
            path.unshift(node);
        return path;
    }
}
