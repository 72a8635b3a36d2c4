/** Pixels of a cell for a font of 14 pixels, whose letters are 0.602 of that wide. */
const CELL = { width: 8.43, height: 18, baseline: 13.5 };
const MARGIN = 14;
const BACKGROUND = '#16181d';
const FOREGROUND = '#d6d9e0';
const FAMILY = "'DejaVu Sans Mono', Menlo, Consolas, monospace";

/** The sixteen colours, which every terminal has of its own. */
const PALETTE = [
  ...['#3b4048', '#e5686d', '#8cc265', '#e0b354', '#5aa9f0', '#c678dd', '#42b3c2', '#c8ccd4'],
  ...['#6b7280', '#ff7a80', '#a5e075', '#f0c674', '#79b8ff', '#de92f5', '#56cfdf', '#ffffff'],
];

/** What a terminal shows, as a picture: `lines` of cells as `TestTerminal.cells()` gives them. The title is read to who cannot see it. */
export function svg(lines, title) {
  return animatedSvg([{ lines, seconds: 1 }], title);
}

/** Frames one after the other, each for its seconds, over and over; the last one for readers who want no motion. */
export function animatedSvg(frames, title) {
  const [{ lines }] = frames;
  const columns = Math.max(...lines.map((line) => line.reduce((sum, { width }) => sum + width, 0)));
  const width = round(columns * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    ...(frames.length > 1 ? [style(frames)] : []),
    ...frames.flatMap((frame, index) => [
      `<g${frames.length > 1 ? ` class="frame" style="animation-name:f${index}"` : ''} font-family="${FAMILY}" font-size="14" xml:space="preserve">`,
      ...frame.lines.flatMap((line, row) => spans(line).flatMap((span) => drawn(span, row))),
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
function spans(line) {
  const all = [];
  let column = 0;
  for (const cell of line) {
    const { foreground, background } = colours(cell);
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

function colours({ foreground, background, dim, inverse }) {
  const front = (dim ? FAINT[foreground] : PALETTE[foreground]) ?? (dim ? blend(FOREGROUND) : FOREGROUND);
  const back = PALETTE[background] ?? BACKGROUND;
  return inverse ? { foreground: back, background: front } : { foreground: front, background: back };
}

function drawn({ text, column, width, foreground, background, bold, underline }, row) {
  const x = round(MARGIN + column * CELL.width);
  const y = MARGIN + row * CELL.height;
  const long = round(width * CELL.width);
  const painted =
    background === BACKGROUND
      ? []
      : [`<rect x="${x}" y="${y}" width="${long}" height="${CELL.height}" fill="${background}"/>`];
  if (text.trim() === '') return painted;
  const style = [bold && ' font-weight="bold"', underline && ' text-decoration="underline"'].filter(Boolean).join('');
  // The length holds the columns together where another font has to do.
  const at = `x="${x}" y="${y + CELL.baseline}" textLength="${long}" lengthAdjust="spacingAndGlyphs"`;
  return [...painted, `<text ${at} fill="${foreground}"${style}>${escaped(text)}</text>`];
}

const FAINT = PALETTE.map(blend);

/** Half way to the background. */
function blend(colour) {
  const channel = (hex, at) => Number.parseInt(hex.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(0.6 * channel(colour, at) + 0.4 * channel(BACKGROUND, at)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function escaped(text) {
  return text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]);
}

function round(pixels) {
  return Math.round(pixels * 100) / 100;
}
