/** Pixels of a cell for a font of 14 pixels, whose letters are 0.602 of that wide. */
const CELL = { width: 8.43, height: 18, baseline: 13.5 };
const MARGIN = 14;
const DARK = { background: '#16181d', foreground: '#d6d9e0' };
const LIGHT = { background: '#fbfbfc', foreground: '#24272e' };
const FAMILY = "'DejaVu Sans Mono', Menlo, Consolas, monospace";

/** The sixteen colours, which every terminal has of its own; then a cube of colours and a ramp of greys. */
const PALETTE = [
  ...['#3b4048', '#e5686d', '#8cc265', '#e0b354', '#5aa9f0', '#c678dd', '#42b3c2', '#c8ccd4'],
  ...['#6b7280', '#ff7a80', '#a5e075', '#f0c674', '#79b8ff', '#de92f5', '#56cfdf', '#ffffff'],
  ...Array.from({ length: 216 }, (_, index) =>
    hexOf(
      [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map((part) => (part === 0 ? 0 : 55 + part * 40)),
    ),
  ),
  ...Array.from({ length: 24 }, (_, index) => hexOf([8 + index * 10, 8 + index * 10, 8 + index * 10])),
];

/** What a terminal shows, as a picture: `lines` of cells as `TestTerminal.cells()` gives them. The title is read to who cannot see it. */
export function svg(lines, title, options) {
  return animatedSvg([{ lines, seconds: 1 }], title, options);
}

/** Frames one after the other, each for its seconds, over and over; the last one for readers who want no motion. */
export function animatedSvg(frames, title, { light = false } = {}) {
  const ground = light ? LIGHT : DARK;
  const [{ lines }] = frames;
  const columns = Math.max(...lines.map((line) => line.reduce((sum, { width }) => sum + width, 0)));
  const width = round(columns * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${ground.background}"/>`,
    ...(frames.length > 1 ? [style(frames)] : []),
    ...frames.flatMap((frame, index) => [
      `<g${frames.length > 1 ? ` class="frame" style="animation-name:f${index}"` : ''} font-family="${FAMILY}" font-size="14">`,
      ...frame.lines.flatMap((line, row) => spans(line, ground).flatMap((span) => drawn(span, row, ground))),
      '</g>',
    ]),
    '</svg>\n',
  ].join('\n');
}

function style(frames) {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  const percent = (seconds) => `${round((seconds / total) * 100)}%`;
  let from = 0;
  const rules = frames.map(({ seconds }, index) => {
    const [begin, end] = [percent(from), percent(from + seconds)];
    from += seconds;
    const before = index === 0 ? '' : '0%{visibility:hidden}';
    const after = index === frames.length - 1 ? '' : `${end}{visibility:hidden}`;
    return `@keyframes f${index}{${before}${begin}{visibility:visible}${after}}`;
  });
  return [
    '<style>',
    `.frame{visibility:hidden;animation:${round(total)}s step-end infinite}`,
    ...rules,
    '@media (prefers-reduced-motion:reduce){.frame{animation:none}.frame:last-of-type{visibility:visible}}',
    '</style>',
  ].join('\n');
}

/** Neighbours that look alike, together; a wide character stands alone, since fonts disagree on how wide it is. */
function spans(line, ground) {
  const all = [];
  let column = 0;
  for (const cell of line) {
    const { foreground, background } = colours(cell, ground);
    const look = [foreground, background, cell.bold, cell.underline].join();
    const last = all.at(-1);
    if (last?.look === look && last.joins && cell.width === 1) {
      last.text += cell.text;
      last.width++;
    } else {
      const { text, width, bold, underline } = cell;
      all.push({ look, joins: width === 1, text, column, width, foreground, background, bold, underline });
    }
    column += cell.width;
  }
  return all;
}

function colours({ foreground, background, dim, inverse }, ground) {
  const full = PALETTE[foreground] ?? ground.foreground;
  const front = dim ? blend(full, ground) : full;
  const back = PALETTE[background] ?? ground.background;
  return inverse ? { foreground: back, background: front } : { foreground: front, background: back };
}

function drawn({ text, column, width, foreground, background, bold, underline }, row, ground) {
  const x = round(MARGIN + column * CELL.width);
  const y = MARGIN + row * CELL.height;
  const long = round(width * CELL.width);
  const painted =
    background === ground.background
      ? []
      : [`<rect x="${x}" y="${y}" width="${long}" height="${CELL.height}" fill="${background}"/>`];
  if (text.trim() === '') return painted;
  const style = [bold && ' font-weight="bold"', underline && ' text-decoration="underline"'].filter(Boolean).join('');
  return [
    ...painted,
    ...pieces(text, width).map((piece) => {
      // The length holds the columns together where another font has to do.
      const from = round(MARGIN + (column + piece.column) * CELL.width);
      const at = `x="${from}" y="${y + CELL.baseline}" textLength="${round(piece.width * CELL.width)}" lengthAdjust="spacingAndGlyphs"`;
      return `<text ${at} fill="${foreground}"${style}>${escaped(piece.text)}</text>`;
    }),
  ];
}

/** Words with a single blank between them: browsers collapse the others, and would stretch what is left to the length. */
function pieces(text, width) {
  const isOne = [...text].length === 1;
  return [...text.matchAll(/\S+(?: \S+)*/gu)].map(({ 0: piece, index }) => ({
    text: piece,
    column: [...text.slice(0, index)].length,
    width: isOne ? width : [...piece].length,
  }));
}

/** Half way to the background. */
function blend(colour, { background }) {
  const channel = (hex, at) => Number.parseInt(hex.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(0.6 * channel(colour, at) + 0.4 * channel(background, at)));
  return hexOf(mixed);
}

function hexOf(channels) {
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function escaped(text) {
  return text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]);
}

function round(pixels) {
  return Math.round(pixels * 100) / 100;
}
