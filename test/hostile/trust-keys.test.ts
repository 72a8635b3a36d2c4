import { expect, test } from 'vitest';
import { settingsSchema } from '../../src/config/schema/settings.ts';
import { type Shape, shapeOf } from '../../src/config/schema/shape.ts';
import { encrypt } from '../../src/config/secrets/cipher.ts';
import { createTree, isTree, type KeyPath, type Tree } from '../../src/config/tree.ts';
import { storedEffect } from '../../src/config/trust/stored-effect.ts';
import { trustRequestOf } from '../../src/config/trust/trust-request.ts';
import { parseYaml } from '../../src/config/yaml/yaml-source.ts';
import { effectChanges, trustItems } from '../../src/operations/trust/trust-text.ts';
import { trials } from '../helpers/trials.ts';

/** Keys whose change needs no new answer. A key that is added to the schema is not among them. */
const HARMLESS = ['theme', 'notify', 'keys', 'targets.*.name'];

const SHAPE = shapeOf(settingsSchema);

test('exactly these keys of the schema need no new answer', () => {
  expect(harmlessIn(SHAPE, '')).toEqual(HARMLESS);
});

test('no section is exempt because it is empty in the schema: every leaf is covered or below a harmless key', async () => {
  const leaves = leavesOf(SHAPE, []);
  expect(leaves.length).toBeGreaterThan(100);
  for (const leaf of leaves) expect([leaf.key, await isAsked(leaf, leaf.value(0))]).toEqual([leaf.key, !leaf.harmless]);
});

test('an encrypted value is no change where another key has changed, and has no text once it is gone', async () => {
  const secret_key = 'a'.repeat(32);
  const url = `postgres://app:${encrypt('hidden', secret_key)}@h/shop`;
  const requestOf = (snapshot: Record<string, string>, more: object = {}) =>
    trustRequestOf(
      {
        path: '/x/tool.yml',
        source: parseYaml(JSON.stringify({ secret_key, targets: { shop: { snapshot } }, ...more })),
      },
      {},
    );
  const answered = (await requestOf({ src_url: url })).effects.map(storedEffect);
  const changed = await requestOf({ src_url: url }, { base_url: 'https://hub.example.com' });
  expect(trustItems({ ...changed, answered }).map(({ label }) => label)).toEqual(['Connects to']);
  const gone = await requestOf({});
  expect(trustItems({ ...gone, answered })).toEqual([{ label: 'No longer', text: 'reads an encrypted value (shop)' }]);
});

const part = trials('trust/keys');
test(part.title('a changed, added or removed key of a trusted file is asked about, or is harmless'), {
  timeout: part.timeout,
}, async () => {
  const leaves = leavesOf(SHAPE, []);
  await part.each(async ({ number, random }) => {
    const leaf = leaves[number % leaves.length];
    if (!leaf) throw new Error('a schema without keys');
    const base = randomTree(leaves, random);
    const [one, other] = [leaf.value(1), leaf.value(2 + Math.floor(random() * 1000))];
    const before = await requestOf(changed(base, leaf, one));
    const after = await requestOf(changed(base, leaf, other));
    const without = await requestOf(changed(base, leaf, undefined));
    expect([leaf.key, before.digest === after.digest]).toEqual([leaf.key, leaf.harmless]);
    expect([leaf.key, before.digest === without.digest]).toEqual([leaf.key, leaf.harmless]);
    if (leaf.harmless) return;
    const answered = before.effects.map(storedEffect);
    const { added, removed } = effectChanges({ effects: after.effects, answered });
    if (!leaf.secret) expect([leaf.key, added.length + removed.length]).not.toEqual([leaf.key, 0]);
    expect(trustItems({ effects: after.effects, answered }).length).toBeGreaterThan(0);
    // No secret is shown or stored.
    if (leaf.secret) expect(JSON.stringify(after.effects)).not.toContain(String(other));
  });
});

interface Leaf {
  key: string;
  path: KeyPath;
  harmless: boolean;
  /** A value that is never shown. */
  secret: boolean;
  /** Different for each number, and never the default. */
  value: (number: number) => unknown;
}

function leavesOf(shape: Shape, path: KeyPath, harmless = false): Leaf[] {
  const isHarmless = harmless || shape.traits.harmless === true;
  if (shape.kind === 'object') {
    return [...shape.keys].flatMap(([name, child]) => leavesOf(child, [...path, name], isHarmless));
  }
  if (shape.kind === 'map') return leavesOf(shape.of, [...path, 'one'], isHarmless);
  if (shape.kind === 'list') return leavesOf(shape.of, [...path, 0], isHarmless);
  const key = path.join('.');
  const secret = shape.traits.secret === true && shape.traits.effect === undefined;
  return [{ key, path, harmless: isHarmless, secret, value: valuesOf(shape) }];
}

function valuesOf(shape: Extract<Shape, { kind: 'value' }>): Leaf['value'] {
  const { type, choices, traits, default: byDefault } = shape;
  const others = choices.filter((choice) => choice !== byDefault);
  if (others.length > 0) return (number) => (number === 1 ? others[0] : number === 0 ? others[0] : others.at(-1));
  if (type === 'boolean') return (number) => (number <= 1 ? !(byDefault ?? false) : (byDefault ?? false));
  if (type === 'number' || type === 'integer') return (number) => 1000 + number;
  if (traits.effect === 'reads' || traits.effect === 'replaces') return (number) => `postgres://host/name${number}`;
  if (traits.effect === 'tunnels') return (number) => `ssh://host${number}`;
  if (traits.effect === 'connects') return (number) => `https://host${number}.example.com`;
  return (number) => `value ${number}-${traits.secret ? 'hidden' : 'shown'}`;
}

/** A value at a path; lists and sections are made. */
function changed(base: Tree, { path }: Leaf, value: unknown): Tree {
  const tree = structuredClone(base);
  setList(tree, path, value);
  return tree;
}

function setList(tree: Tree, path: KeyPath, value: unknown): void {
  let parent: Tree | unknown[] = tree;
  for (const [index, part] of path.entries()) {
    const isLast = index === path.length - 1;
    if (isLast && value === undefined) {
      if (Array.isArray(parent)) parent.splice(Number(part), 1);
      else delete parent[part];
      return;
    }
    const holder = parent as Tree;
    const next = path[index + 1];
    if (isLast) holder[part] = value;
    else if (!isTree(holder[part]) && !Array.isArray(holder[part]))
      holder[part] = typeof next === 'number' ? [] : createTree();
    parent = holder[part] as Tree;
  }
}

function randomTree(leaves: Leaf[], random: () => number): Tree {
  const tree = createTree();
  for (const leaf of leaves) if (random() < 0.2) setList(tree, leaf.path, leaf.value(1));
  return structuredClone(tree);
}

async function isAsked(leaf: Leaf, value: unknown): Promise<boolean> {
  const empty = await requestOf(createTree());
  const { digest } = await requestOf(changed(createTree(), leaf, value));
  return digest !== empty.digest;
}

function requestOf(tree: Tree) {
  // JSON is YAML.
  const source = parseYaml(JSON.stringify(tree));
  return trustRequestOf({ path: '/nowhere/tool.yml', source }, { HOME: '/nowhere' });
}

function harmlessIn(shape: Shape, key: string): string[] {
  const below = (name: string) => (key === '' ? name : `${key}.${name}`);
  if (shape.traits.harmless) return [key];
  if (shape.kind === 'object') return [...shape.keys].flatMap(([name, child]) => harmlessIn(child, below(name)));
  if (shape.kind === 'map') return harmlessIn(shape.of, below('*'));
  return shape.kind === 'list' ? harmlessIn(shape.of, `${key}[]`) : [];
}
