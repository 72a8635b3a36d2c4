import type { Shape } from '../../../src/config/schema/shape.ts';
import { writeScalar } from '../../../src/config/yaml/yaml-text.ts';

const HEADER = `# yaml-language-server: $schema=./assets/tool.schema.json
#
# Every key of the configuration with what it means; docs/configuration.md has them as tables.
# Copy what you need to ./tool.yml or ~/.config/tool/tool.yml. A key that is left out has its default.
# Generated from src/config/schema: npm run generate
`;

const NAMES: Record<string, string> = { sso: 'idp', storage_profiles: 'team', targets: 'app' };

/** Keys that exclude another one beside them, which the example sets: they are comments. */
const ALTERNATIVES: Record<string, string> = { percent: 'where', query_file: 'command' };

export function exampleConfiguration(shape: Shape): string {
  return `${HEADER}\n${keyLines(shape, '').join('\n')}`.replace(/\n*$/, '\n');
}

function keyLines(shape: Shape, indent: string): string[] {
  if (shape.kind !== 'object') return [];
  return [...shape.keys].flatMap(([key, child]) => {
    const lines = [
      commentLine(child, indent),
      ...entryLines(key, child, { indent, isAlternative: shape.keys.has(ALTERNATIVES[key] ?? '') }),
    ];
    return indent === '' ? [...lines, ''] : lines;
  });
}

function entryLines(
  key: string,
  shape: Shape,
  { indent, isAlternative }: { indent: string; isAlternative: boolean },
): string[] {
  const deeper = `${indent}  `;
  switch (shape.kind) {
    case 'object':
      return [`${indent}${key}:`, ...keyLines(shape, deeper)];
    case 'map':
      return [`${indent}${key}:`, `${deeper}${NAMES[key] ?? 'name'}:`, ...keyLines(shape.of, `${deeper}  `)];
    case 'list':
      if (shape.of.kind !== 'object') return [`${indent}${key}: ${writeScalar(exampleOf(shape))}`];
      return [`${indent}${key}:`, ...itemLines(shape.of, deeper)];
    case 'value':
      return [`${indent}${isAlternative ? '# ' : ''}${key}: ${writeScalar(exampleOf(shape))}`];
    default:
      return shape satisfies never;
  }
}

/** The first key of an item follows its dash; its description is above. */
function itemLines(item: Shape, indent: string): string[] {
  const lines = keyLines(item, `${indent}  `);
  const first = lines.findIndex((line) => !line.trimStart().startsWith('#'));
  const dashed = lines.slice(0, first + 1).map((line) => line.trimStart());
  return [...dashed.map((line, index) => `${indent}${index === first ? '- ' : ''}${line}`), ...lines.slice(first + 1)];
}

function exampleOf(shape: Shape): unknown {
  return shape.default ?? shape.example ?? (shape.kind === 'list' ? [exampleOf(shape.of)] : '…');
}

function commentLine({ description, required, traits, ...shape }: Shape, indent: string): string {
  const meaning = traits.unit ? description.replace(/\.$/, () => ` (${traits.unit}).`) : description;
  const choices = shape.kind === 'value' && shape.choices.length > 0 ? `One of ${shape.choices.join(', ')}.` : '';
  const facts = [meaning, choices, required ? 'Required.' : ''];
  return `${indent}# ${facts.filter((text) => text !== '').join(' ')}`;
}
