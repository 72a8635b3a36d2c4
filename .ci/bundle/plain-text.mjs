/**
 * Bundled into Ink's helpers (see patches.mjs): nearly all text of a terminal is of characters that are graphemes of
 * their own, for which neither ICU's break tables nor its sets of emoji need be loaded.
 */

/** Latin, Cyrillic, quotes, arrows, boxes, blocks, shapes and Braille: one cell each, and no neighbour joins them. */
const ONE_CELL =
  String.raw`\x20-\x7e\xa1-\xa8\xaa-\xac\xaf-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203b` +
  String.raw`\u2190-\u2193\u2500-\u25a9\u25ac-\u25b5\u25b7-\u25bf\u25c1-\u25fa\u2713\u2715\u2717\u276f\u2800-\u28ff`;

const onlyOneCell = new RegExp(`^[${ONE_CELL}]*$`);

/** The same and control characters. */
const onlyStandalone = new RegExp(String.raw`^[\x00-\x0c\x0e-\x1f${ONE_CELL}]*$`);

/** Reports whether a text takes as many cells as it has characters. */
export function isOneCellEach(text) {
  return onlyOneCell.test(text);
}

/** An `Intl.Segmenter` for graphemes, created for the first text that needs one. */
export function lazySegmenter(make) {
  let segmenter;
  return {
    segment(text) {
      if (onlyStandalone.test(text)) return characters(text);
      segmenter ??= make();
      return segmenter.segment(text);
    },
  };
}

/** A `RegExp`, compiled when first used. */
export function lazyRegExp(make) {
  let expression;
  const made = () => (expression ??= make());
  return {
    test: (text) => made().test(text),
    exec: (text) => made().exec(text),
    [Symbol.search]: (text) => text.search(made()),
  };
}

function characters(text) {
  const at = (index) => (index < text.length ? { segment: text[index], index, input: text } : undefined);
  return {
    *[Symbol.iterator]() {
      for (let index = 0; index < text.length; index++) yield at(index);
    },
    containing: at,
  };
}
