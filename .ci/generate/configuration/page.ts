import type { Shape } from '../../../src/config/schema/shape.ts';
import { markdownTable } from '../markdown-table.ts';

const FIRST_SECTION = '## Keys of the top level';

/** Replaces the tables of keys in the page; what stands before them is written by hand. */
export function configurationPage(shape: Shape, page: string): string {
  const [introduction = ''] = page.split(FIRST_SECTION, 1);
  return `${introduction}${sections(shape, []).join('\n\n')}\n`;
}

function sections(shape: Shape, path: string[]): string[] {
  const inner = innerOf(shape);
  if (inner.kind !== 'object' || path.join('.') === 'keys') return [];
  const rows = [...inner.keys].map(([key, child]) => row([...path, key], child));
  const below = [...inner.keys].flatMap(([key, child]) => sections(child, [...path, placeholder(key, child)]));
  if (rows.length === 1 && below.length > 0) return below;
  return [
    path.length === 0 ? FIRST_SECTION : `## \`${path.join('.')}\``,
    ...(shape.description === '' || path.length === 0 ? [] : [shape.description]),
    markdownTable([['key', 'type', 'default', 'meaning'], ...rows]),
    ...below,
  ];
}

function innerOf(shape: Shape): Shape {
  return shape.kind === 'map' || shape.kind === 'list' ? shape.of : shape;
}

function placeholder(key: string, { kind }: Shape): string {
  if (kind === 'map') return `${key}.<name>`;
  return kind === 'list' ? `${key}[]` : key;
}

function row(path: string[], shape: Shape): string[] {
  const { description, traits, required } = shape;
  const hasOwnSection = innerOf(shape).kind === 'object';
  const marks = [traits.template ? 'template' : '', traits.secret ? 'secret' : ''].filter((mark) => mark !== '');
  const meaning = hasOwnSection && path.at(-1) !== 'keys' ? '' : description;
  return [
    `\`${path.at(-1)}\``,
    typeText(shape),
    required ? 'required' : shape.kind === 'value' && shape.default !== undefined ? `\`${shape.default}\`` : '',
    [meaning, ...(marks.length > 0 ? [`(${marks.join(', ')})`] : [])].join(' ').replaceAll('|', '\\|'),
  ];
}

function typeText(shape: Shape): string {
  if (shape.kind === 'object') return 'map';
  if (shape.kind === 'map') return 'map by name';
  if (shape.kind === 'list') return shape.of.kind === 'value' ? `list of ${typeText(shape.of)}` : 'list of maps';
  if (shape.choices.length > 0) return shape.choices.map((choice) => `\`${choice}\``).join(', ');
  return shape.traits.unit && shape.type !== 'text' ? `${shape.type}, ${shape.traits.unit}` : shape.type;
}
