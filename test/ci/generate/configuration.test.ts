import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { generatedFiles } from '../../../.ci/generate/configuration/files.ts';
import { settingsSchema } from '../../../src/config/schema/settings.ts';
import { type Shape, shapeOf } from '../../../src/config/schema/shape.ts';
import { accepts, type JsonSchema } from '../../helpers/documents/json-schema.ts';
import { configFolder } from '../../helpers/terminal/config-folder.ts';

const written = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
const files = new Map(generatedFiles(written).map(({ path, content }) => [path, content]));

/** Every key with a value, by its names from the top. */
function leaves(shape: Shape, path: string[] = []): string[][] {
  if (shape.kind === 'object') return [...shape.keys].flatMap(([key, child]) => leaves(child, [...path, key]));
  if (shape.kind === 'map' || (shape.kind === 'list' && shape.of.kind === 'object')) return leaves(shape.of, path);
  return [path];
}

const all = leaves(shapeOf(settingsSchema));

test.for([...files.keys()])('%s equals the document generated from the schema', (path) => {
  expect(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')).toBe(files.get(path));
});

test('the example is a valid configuration with every key in it', async () => {
  const example = files.get('tool.example.yml') ?? '';
  expect(example).toMatch(/^# yaml-language-server: \$schema=/);
  for (const path of all) expect(example).toMatch(new RegExp(`^[\\s#-]*${path.at(-1)}: `, 'm'));
  const folder = await configFolder({
    'tool.yml': example,
    'sanitize.sql': '',
    '.aws/config': '[default]\nregion = eu-central-1\n',
  });
  const { problems } = await folder.inspect({ environment: { APP_PASSWORD: 'x' } });
  // It has one storage profile for all, with all ways to sign in.
  expect(problems.map(({ code }) => code)).toEqual(['storage_key_unused', 'cli_profile_wins', 'originals_shared']);
});

const schema = JSON.parse(files.get('assets/tool.schema.json') ?? '') as JsonSchema;

test('the JSON Schema accepts the example, and a file that leaves the secret_key to a variable', () => {
  expect(accepts(schema, parse(files.get('tool.example.yml') ?? ''))).toBe(true);
  expect(accepts(schema, {})).toBe(true);
});

/** Broken in a way that an editor can see without the program. */
test.for([
  ...['choice', 'image', 'missing-keys', 'secret-key-short', 'table-names', 'type-boolean', 'type-list'],
  ...['type-map', 'type-number', 'type-of-a-list-item', 'type-text', 'unknown-key', 'unknown-key-camel-case', 'names'],
])('the JSON Schema refuses broken/%s.yml', (name) => {
  const text = readFileSync(new URL(`../../config/broken/${name}.yml`, import.meta.url), 'utf8');
  expect(accepts(schema, parse(text))).toBe(false);
});

test('the page has a row for every key but those of the screens, which their page has', () => {
  const page = files.get('docs/configuration.md') ?? '';
  const screens = readFileSync(new URL('../../../docs/screens.md', import.meta.url), 'utf8');
  expect(all.length).toBeGreaterThan(50);
  for (const [first, ...rest] of all) {
    const isKeyOfScreens = first === 'keys' && rest.length > 0;
    expect(isKeyOfScreens ? screens : page).toContain(`| \`${rest.at(-1) ?? first}\` `);
  }
});

test('the JSON Schema describes every key and refuses unknown ones', () => {
  const visit = (value: unknown, node: JsonSchema | undefined): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, node?.items);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [key, child] of Object.entries(value)) {
      const next = node?.properties ? node.properties[key] : node?.additionalProperties;
      if (node?.properties) expect({ key, ...next }).toHaveProperty('description');
      if (node?.properties) expect(node.additionalProperties).toBe(false);
      visit(child, next || undefined);
    }
  };
  visit(parse(files.get('tool.example.yml') ?? ''), schema);
});
