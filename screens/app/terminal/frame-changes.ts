import { cellWidth, graphemes } from '../../../src/text/text-width.ts';

interface Style {
  /** Parameters of SGR. */
  attributes: string[];
  /** All of them. */
  codes: string;
  /** Visible on a blank too. */
  paints: boolean;
}

/** A cell of the terminal; the second one of a wide character has no text. */
interface Cell {
  text: string;
  style: Style;
}

const PLAIN: Style = { attributes: [], codes: '', paints: false };
const BLANK: Cell = { text: ' ', style: PLAIN };

/** Returns what turns a frame at the top of the screen into another: cells that are the same are not written again. */
export function frameChanges(before: string[], after: string[]): string {
  const writer = new CellWriter();
  after.forEach((line, row) => {
    const shown = before[row] ?? '';
    if (line === shown) return;
    const old = cellsOf(shown);
    const cells = cellsOf(line);
    while (cells.length < old.length) cells.push(BLANK);
    for (let column = 0; column < cells.length; ) {
      const isChanged = cells[column]?.text !== '' && !isSame(cells[column], old[column] ?? BLANK);
      column += isChanged ? writer.write({ row, column, cells }) : 1;
    }
  });
  return writer.end(after.length - 1);
}

function isSame(one: Cell | undefined, other: Cell): boolean {
  return one?.text === other.text && one.style.codes === other.style.codes;
}

interface Place {
  row: number;
  column: number;
  cells: Cell[];
}

/** So many blanks are erased rather than written. */
const ERASED_FROM = 8;
/** A gap of so many cells takes fewer bytes than a move over it. */
const WRITTEN_GAP = 4;

class CellWriter {
  #written = '';
  #style = PLAIN;
  #row = -1;
  /** Absent behind a wide character, about whose width terminals differ. */
  #column: number | undefined;

  /** Writes the cell, or the blanks that begin with it; returns the number of cells. */
  write(place: Place): number {
    const { column, cells } = place;
    const cell = cells[column] ?? BLANK;
    this.#move(place);
    const blanks = blanksFrom(cells, column);
    if (blanks >= ERASED_FROM) {
      this.#take(PLAIN);
      this.#written += `\x1b[${blanks}X`;
      return blanks;
    }
    if (!this.#continues(cell)) this.#take(cell.style);
    this.#written += cell.text;
    this.#column = cells[column + 1]?.text === '' ? undefined : column + 1;
    return 1;
  }

  /** Leaves the cursor where Ink expects it. */
  end(row: number): string {
    this.#take(PLAIN);
    return `${this.#written}\x1b[${row + 1}H`;
  }

  #move({ row, column, cells }: Place): void {
    if (row !== this.#row) this.#written += `\x1b[${row + 1};${column + 1}H`;
    else if (column !== this.#column) {
      const gap = cells.slice(this.#column ?? column, column);
      const isWritten = gap.length > 0 && gap.length <= WRITTEN_GAP && gap.every((cell) => this.#continues(cell));
      this.#written += isWritten ? gap.map(({ text }) => text).join('') : `\x1b[${column + 1}G`;
    }
    this.#row = row;
    this.#column = column;
  }

  #continues(cell: Cell): boolean {
    return cell.text !== '' && (cell.style.codes === this.#style.codes || (isBlank(cell) && !this.#style.paints));
  }

  #take(style: Style): void {
    if (style.codes === this.#style.codes) return;
    this.#written += style.codes === '' ? '\x1b[m' : `\x1b[;${style.codes}m`;
    this.#style = style;
  }
}

function blanksFrom(cells: Cell[], column: number): number {
  let end = column;
  while (end < cells.length && isBlank(cells[end] ?? BLANK)) end += 1;
  return end - column;
}

function isBlank({ text, style }: Cell): boolean {
  return text === ' ' && !style.paints;
}

const ESC = '\x1b';
const SGR = new RegExp(`${ESC}\\[([\\d;]*)m`);

function cellsOf(line: string): Cell[] {
  let style = PLAIN;
  return line.split(SGR).flatMap((part, index): Cell[] => {
    const isText = index % 2 === 0;
    if (!isText) style = withAttribute(style, part);
    return isText ? cellsOfText(part, style) : [];
  });
}

/** Characters of one cell that join no other: ASCII, Latin, lines and marks of this program. */
const SINGLE =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02af\u2010-\u2027\u2190-\u2193\u2500-\u25a1\u25cb\u25cf\u276f\u2713\u2717\u2800-\u28ff]*$/;

function cellsOfText(text: string, style: Style): Cell[] {
  const cellOf = (character: string): Cell => (character === ' ' && !style.paints ? BLANK : { text: character, style });
  if (SINGLE.test(text)) return Array.from(text, cellOf);
  return graphemes(text).flatMap((character): Cell[] => {
    const width = cellWidth(character);
    return width === 0 ? [] : [cellOf(character), ...Array(width - 1).fill({ text: '', style })];
  });
}

/** Takes one attribute, as Ink writes them: a sequence each. */
function withAttribute({ attributes }: Style, attribute: string): Style {
  const end = endOf(attribute);
  const isEnd = attribute === `${end}`;
  // Bold and dim have the same end.
  const kept = attributes.filter((other) => endOf(other) !== end || (!isEnd && end === 22 && other !== attribute));
  const present = isEnd ? kept : [...kept, attribute].sort();
  return { attributes: present, codes: present.join(';'), paints: present.some((other) => PAINTED.has(endOf(other))) };
}

/** Ends of underline, reverse, strikethrough and background. */
const PAINTED = new Set([24, 27, 29, 49]);

/** The parameter of SGR that ends an attribute: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html */
function endOf(attribute: string): number {
  const code = Number.parseInt(attribute, 10);
  if (code >= 30) return code >= 100 || (code >= 40 && code < 50) ? 49 : 39;
  return code >= 20 ? code : code <= 2 ? 22 : code + 20;
}
