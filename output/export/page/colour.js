/* SPDX-License-Identifier: Apache-2.0 */

/* Colours of frames: by module, or by change where two profiles are compared. */

class Colours {
    constructor(model) {
        this.model = model;
        this.isDark = false;
        this.modules = Colours.modulesByArea(model);
        this.hues = this.hueOfEach();
        this.tones = model.data.names.map((name) => Colours.hash(name));
        this.cache = new Map();
    }

    /* Those whose frames cover most of the picture first, as it is before anything is chosen. */
    static modulesByArea({ data, nrNodes, sides }) {
        const area = new Float64Array(data.modules.length), { total } = sides[1];
        for (let i = 1; i < nrNodes; i++) {
            if (!(data.flags[data.fn[i]] & (PSEUDO | KERNEL)))
                area[data.module[data.fn[i]]] += total[i];
        }
        return [...area.keys()].sort((a, b) => area[b] - area[a] || a - b);
    }

    /* What is seen most gets hues far apart; red and blue are for kernel code and changes. */
    hueOfEach() {
        const far = [38, 96, 190, 62, 150, 270, 120, 28, 172, 50], { bases } = this.model.data;
        return new Map(this.modules.map((module, rank) =>
            [module, far[rank] ?? 28 + Colours.hash(bases[module]) * 150]));
    }

    static hash(text) {
        let hash = 2166136261;
        for (let i = 0; i < text.length; i++)
            hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
        hash ^= hash >>> 15;
        return (Math.imul(hash, 2246822519) >>> 0) / 2 ** 32;
    }

    setDark(isDark) {
        this.isDark = isDark;
        this.cache.clear();
    }

    ofModule(module) {
        return this.tint(this.hue(module), 0.5);
    }

    hue(module) {
        return this.hues.get(module) ?? 38;
    }

    tint(hue, tone) {
        const light = this.isDark ? 30 + tone * 8 : 70 + tone * 9;
        const strength = this.isDark ? 42 : 66;
        return `hsl(${hue.toFixed(0)} ${strength}% ${light.toFixed(1)}%)`;
    }

    of(fn) {
        let colour = this.cache.get(fn);
        if (!colour) {
            const { flags, module } = this.model.data;
            const tone = this.tones[fn];
            colour = flags[fn] & PSEUDO ? this.pseudo()
                : this.tint(flags[fn] & KERNEL ? 8 : this.hue(module[fn]) + tone * 8 - 4, tone);
            this.cache.set(fn, colour);
        }
        return colour;
    }

    pseudo() {
        return this.isDark ? "hsl(220 6% 34%)" : "hsl(220 8% 80%)";
    }

    kernel() {
        return this.tint(8, 0.5);
    }

    rest() {
        return this.isDark ? "hsl(220 8% 26%)" : "hsl(40 10% 88%)";
    }

    match() {
        return this.isDark ? "hsl(308 55% 42%)" : "hsl(308 72% 74%)";
    }

    /* change: in parts of the greater of both, -1 to 1. */
    ofChange(change, isNoise) {
        if (isNoise || !change)
            return this.rest();
        const strength = Math.min(1, 0.25 + Math.abs(change));
        const hue = change > 0 ? 6 : 214;
        return this.isDark ? `hsl(${hue} ${20 + 45 * strength}% ${28 + 14 * strength}%)`
            : `hsl(${hue} ${40 + 50 * strength}% ${92 - 26 * strength}%)`;
    }

    ofNode(node) {
        const { data } = this.model;
        if (!data.isDiff)
            return node ? this.of(data.fn[node]) : this.rest();
        const { before, after, change, isNoise } = this.model.nodeChange(node);
        const whole = Math.max(before, after);
        return this.ofChange(whole ? change / whole : 0, isNoise);
    }

    ink() {
        return this.isDark ? "#f0f1f3" : "#1a1c20";
    }
}
