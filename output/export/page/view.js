/* SPDX-License-Identifier: Apache-2.0 */

/* The part of the time that is on the screen, in ns from the first slice on; and the part that is
 * chosen, within which slices are added up. */

const VIEW_LEAST = 2000;

class View {
    constructor(data) {
        this.whole = data.nrSlices * data.sliceNs;
        this.sliceNs = data.sliceNs;
        this.show(0, this.whole);
        this.choose(0, this.whole);
    }

    get size() {
        return this.to - this.from;
    }

    get isWhole() {
        return this.size === this.whole;
    }

    get hasChoice() {
        return this.chosenFrom > 0 || this.chosenTo < this.whole;
    }

    show(from, to) {
        const size = Math.min(this.whole, Math.max(to - from, Math.min(VIEW_LEAST, this.whole)));
        this.from = Math.max(0, Math.min(from, this.whole - size));
        this.to = this.from + size;
    }

    /* Whether that is another choice than before. */
    choose(from, to) {
        const least = Math.max(0, Math.min(from, this.whole - 1));
        const most = Math.min(this.whole, Math.max(to, least + 1));
        const isNew = least !== this.chosenFrom || most !== this.chosenTo;
        [this.chosenFrom, this.chosenTo] = [least, most];
        return isNew;
    }

    /* The slices that are chosen, those that are chosen in part too. */
    slices() {
        const from = Math.floor(this.chosenFrom / this.sliceNs);
        return [from, Math.max(Math.ceil(this.chosenTo / this.sliceNs), from + 1)];
    }

    /* So many times as wide, with `at` where it is. */
    widen(times, at) {
        const from = at - (at - this.from) * times;
        this.show(from, from + this.size * times);
    }

    move(by) {
        this.show(this.from + by, this.to + by);
    }

    /* In parts of the width. */
    placeOf(ns) {
        return (ns - this.from) / this.size;
    }
}
