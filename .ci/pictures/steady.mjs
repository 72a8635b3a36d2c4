/** Ids as they stand for the random ones, in the order in which those are first seen. */
const IDS = ['8c41f2ab', '3e07b95d', 'b5d2604e', '17fa83c6', 'd94e0b72', '62c8a1f5', 'a03f7de9', '4b96c25f'];

/**
 * Puts what stands for it in place of what differs from run to run: ports, ids, folders, what took how long. The
 * pattern must take as many columns in every run, or be followed by blanks or the border.
 */
export function createSteady(folders = []) {
  const ids = new Map();
  const idOf = (id) => {
    if (!ids.has(id)) ids.set(id, IDS[ids.size % IDS.length]);
    return ids.get(id);
  };
  const rules = [
    ...folders.map(([folder, text]) => [new RegExp(folder.replace(/[.\\]/g, '\\$&'), 'g'), () => text]),
    [/(?<=127\.0\.0\.1:|localhost:)\d{4,5}\b/g, () => '5432'],
    [/(?<!\w)[0-9a-f]{8}(?![\w-])/g, idOf],
    [/(?<=hash\(value\)|md5\(')[0-9a-f]{24}/g, () => '5f0c9d1ae47b8362d90c14fe'],
    [/(?<=\$aes\$)[0-9a-f]{4}(?=…)/g, () => '9598'],
    [/(?<=ed25519-)[\w+/]{43}=/g, () => 'yiekODDWE93M2zJ3Qs3k46G7Ls20eN5pZSsuINPP7w8='],
    // Masked samples keep a letter of each value, which is random where the value is.
    [/[0-9a-z](?=\*)/g, () => 'x'],
    [/[A-Z](?=\*)/g, () => 'X'],
    [/(?<=\* {2,3})[0-9A-Za-z](?=…)/g, () => 'x'],
    // The clock of the program stands still: each duration by one that a small database needs, as wide in a frame.
    [/ {4,}0 ms(?= {2})| {3,}0 ms$|(?<=failed) {2}0 ms/g, (blanks, line) => durationOf(line).padStart(blanks.length)],
    [/(?<=· {2})0 ms(?= {2}·)/g, () => '2 s '],
    [/(?<=running )0 ms/g, () => '2 s'],
    [/(?<=after |in |about )0 ms\b/g, () => '2.1 s'],
    [/(?<=unavailable (for )?)0 ms/g, () => '9 ms'],
    [/(?<=\S {1,3})0 ms\b/g, (_, line) => durationOf(line)],
  ];
  return (lines) => {
    const columns = Math.max(...lines.map(widthOf));
    return lines.map((line) =>
      rules.reduce((cells, [pattern, text]) => replaced(cells, { pattern, text, columns }), line),
    );
  };
}

/** A run as a whole takes as long wherever it is listed; a step has a time of its own. */
function durationOf(line) {
  if (/Duration|\d{4}-\d\d-\d\d|[✓✗!] (done|failed) /.test(line)) return '2.1 s';
  const sum = [...line.replace(/\P{L}/gu, '')].reduce((total, letter) => total + letter.codePointAt(0), 0);
  return `${20 + (sum % 480)} ms`;
}

/** Each match in the text of a line by the other text, in the look of its first cell. */
function replaced(cells, { pattern, text, columns }) {
  const whole = cells.map((cell) => cell.text || ' ').join('');
  let done = cells;
  // From the end, so that what comes before keeps its position.
  for (const match of [...whole.matchAll(pattern)].reverse()) {
    const first = cellAt(cells, match.index);
    const after = cellAt(cells, match.index + match[0].length);
    const letters = [...text(match[0], whole)].map((letter) => ({ ...cells[first], text: letter, width: 1 }));
    done = [...done.slice(0, first), ...letters, ...filled(done.slice(after), after - first - letters.length)];
  }
  return fitted(done, columns);
}

/** What follows, with so many more blanks, or fewer: where the next gap is, so that columns stay in line. */
function filled(cells, missing) {
  const rest = [...cells];
  const gap = rest.findIndex((cell, at) => isFiller(cell) && isFiller(rest[at + 1]) && rest[at + 1].text === cell.text);
  if (gap < 0) return rest;
  for (let count = 0; count < missing; count += 1) rest.splice(gap, 0, { ...rest[gap] });
  for (let count = 0; count > missing && isFiller(rest[gap]) && isFiller(rest[gap + 1]); count -= 1)
    rest.splice(gap, 1);
  return rest;
}

function isFiller(cell) {
  return (cell?.text === ' ' && !cell.inverse) || cell?.text === '─';
}

function cellAt(cells, index) {
  let at = 0;
  for (const [position, { text }] of cells.entries()) {
    if (at >= index) return position;
    at += (text || ' ').length;
  }
  return cells.length;
}

function fitted(cells, columns) {
  const line = [...cells];
  // Before the last cell, which is the border.
  const filler = isFiller(line.at(-2)) ? line.at(-2) : { ...line.at(-1), text: ' ', inverse: false };
  while (widthOf(line) < columns) line.splice(-1, 0, { ...filler });
  while (widthOf(line) > columns) line.splice(-2, 1);
  return line;
}

function widthOf(line) {
  return line.reduce((sum, { width }) => sum + width, 0);
}
