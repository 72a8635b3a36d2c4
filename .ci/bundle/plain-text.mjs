/**
 * Bundled into Ink's helpers (see patches.mjs): nearly all text of a terminal is of characters that stand alone in one
 * cell, and for those neither the break tables of ICU nor the sets of all emoji need be loaded.
 */

/** Latin, Cyrillic, quotes, arrows, boxes, blocks, shapes and Braille that no neighbour changes or widens. */
const narrow =
  String.raw`\x20-\x7e\xa1-\xa8\xaa-\xac\xaf-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203b` +
  String.raw`\u2190-\u2193\u2500-\u25a9\u25ac-\u25b5\u25b7-\u25bf\u25c1-\u25fa\u2713\u2715\u2717\u276f\u2800-\u28ff`;

const onlyNarrow = new RegExp(`^[${narrow}]*$`);
const onlyStandalone = new RegExp(`^[\\x00-\\x0c\\x0e-\\x1f${narrow}]*$`);

/** Whether each character takes exactly one cell. */
export function isNarrow(text) {
  return onlyNarrow.test(text);
}

/** An `Intl.Segmenter` for graphemes that is made when the first text comes that needs one. */
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

/** A `RegExp` that is compiled when first used. */
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
