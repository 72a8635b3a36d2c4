import type { SubsetGraph, SubsetReference } from '../results/subset-results.ts';
import { formatCount } from '../text/format.ts';
import { cellWidth, cut } from '../text/text-width.ts';
import { layers } from './diagram.ts';

type Rule = SubsetGraph['tables'][number]['rule'];

const CELL = 7.5;
const LONGEST = 34;
const HEIGHT = 44;
const MARGIN = 24;
const GAP = { across: 90, down: 20 };
const HEAD = 56;

/** Border and fill; readable on white. */
const COLOURS: Record<Rule, [string, string]> = {
  target: ['#1d4ed8', '#dbeafe'],
  child: ['#0f766e', '#ccfbf1'],
  parent: ['#4d7c0f', '#ecfccb'],
  copy: ['#7e22ce', '#f3e8ff'],
  excluded: ['#b45309', '#fef3c7'],
  empty: ['#9ca3af', '#f9fafb'],
};

interface Box {
  x: number;
  y: number;
  width: number;
}

/** Self-contained: no script, no style sheet, no font, no link. Every name is escaped. */
export function drawSvg(graph: SubsetGraph): string {
  const placed = layers(graph);
  const facts = new Map(graph.tables.map((table) => [table.table, table]));
  const boxes = new Map<string, Box>();
  let x = MARGIN;
  for (const row of placed) {
    const width = Math.max(...row.map(({ table }) => boxWidth(table, facts.get(table)?.rule ?? 'empty')));
    for (const { table, order } of row) boxes.set(table, { x, y: HEAD + order * (HEIGHT + GAP.down), width });
    x += width + GAP.across;
  }
  const rows = Math.max(1, ...placed.map((row) => row.length));
  const size = {
    width: Math.max(520, x - GAP.across + MARGIN * 2),
    height: HEAD + rows * (HEIGHT + GAP.down) + MARGIN,
  };
  const order = (one: SubsetReference): number => (one.excluded ? 0 : one.chosen ? 2 : 1);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">`,
    `<title>${escaped(`Subset of ${graph.target}`)}</title>`,
    '<defs>',
    ...['#1f2937', '#9ca3af', '#dc2626'].map(
      (colour, index) =>
        `<marker id="arrow${index}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="${colour}"/></marker>`,
    ),
    '</defs>',
    `<rect width="${size.width}" height="${size.height}" fill="#ffffff"/>`,
    ...legend(),
    ...graph.references.toSorted((a, b) => order(a) - order(b)).map((reference) => edge(reference, boxes)),
    ...graph.tables.map((table) => box(table, boxes.get(table.table))),
    '</svg>',
    '',
  ].join('\n');
}

function boxWidth(table: string, rule: Rule): number {
  return Math.ceil(Math.max(Math.min(LONGEST, cellWidth(table)), rule.length + 14) * CELL) + 20;
}

function legend(): string[] {
  const rules = Object.entries(COLOURS).map(
    ([rule, [border, fill]], index) =>
      `<rect x="${MARGIN + index * 82}" y="16" width="10" height="10" rx="2" fill="${fill}" stroke="${border}"/><text x="${MARGIN + index * 82 + 15}" y="25" fill="#374151">${rule}</text>`,
  );
  return [
    ...rules,
    `<text x="${MARGIN}" y="43" fill="#374151"><tspan font-weight="bold">bold</tspan> rows come by this reference  <tspan fill="#dc2626">red</tspan> circular  dashed excluded</text>`,
  ];
}

function box({ table, rule, rows }: SubsetGraph['tables'][number], place: Box | undefined): string {
  if (!place) return '';
  const { x, y, width } = place;
  const [border, fill] = COLOURS[rule];
  const weight = rule === 'target' ? 2.5 : 1.2;
  const count = `${rule}, ${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`;
  return `<g><title>${escaped(`${table}: ${count}`)}</title><rect x="${x}" y="${y}" width="${width}" height="${HEIGHT}" rx="6" fill="${fill}" stroke="${border}" stroke-width="${weight}"/><text x="${x + 10}" y="${y + 18}" fill="#111827" font-weight="bold">${escaped(cut(table, LONGEST, '…'))}</text><text x="${x + 10}" y="${y + 34}" fill="#4b5563">${escaped(count)}</text></g>`;
}

function edge({ from, to, names, chosen, circular, excluded }: SubsetReference, boxes: Map<string, Box>): string {
  const [one, other] = [boxes.get(from), boxes.get(to)];
  if (!one || !other) return '';
  const [colour, arrow] = circular ? ['#dc2626', 2] : chosen ? ['#1f2937', 0] : ['#9ca3af', 1];
  const dashes = excluded ? ' stroke-dasharray="5 4"' : '';
  const title = escaped(`${from} → ${to}: ${names.join(', ')}`);
  return `<path d="${pathBetween(one, other)}" fill="none" stroke="${colour}" stroke-width="${chosen ? 2.2 : 1.2}"${dashes} marker-end="url(#arrow${arrow})"><title>${title}</title></path>`;
}

/** From the right side to the left one; around the right side within a layer and backwards. */
function pathBetween(one: Box, other: Box): string {
  const [start, end] = [one.y + HEIGHT / 2, other.y + HEIGHT / 2];
  const right = one.x + one.width;
  if (one === other)
    return `M${right} ${start - 8}C${right + 40} ${start - 24} ${right + 40} ${start + 24} ${right} ${start + 8}`;
  if (other.x > right) {
    const bend = Math.max(30, (other.x - right) / 2);
    return `M${right} ${start}C${right + bend} ${start} ${other.x - bend} ${end} ${other.x} ${end}`;
  }
  const far = Math.max(right, other.x + other.width) + 50;
  return `M${right} ${start}C${far} ${start} ${far} ${end} ${other.x + other.width} ${end}`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Control characters, unpaired surrogates and noncharacters are not allowed in XML. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
