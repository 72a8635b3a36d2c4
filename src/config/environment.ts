import type { Problem } from '../results/configuration/configuration-results.ts';
import { nearest } from '../text/nearest.ts';
import { NOWHERE } from './configuration.ts';
import { childShape, type Shape } from './schema/shape.ts';
import { createTree, dotted, isTree, type KeyPath, setValue, type Tree } from './tree.ts';
import { parseValue } from './yaml/yaml-source.ts';

const PREFIX = 'TOOL_';

const SWITCHES = ['no_confirm'];
/** `id_token`: of a CI job, for the hub. `config`: the file. */
const OTHER_VARIABLES = [...SWITCHES, 'trust', 'id_token', 'config'];

/** Settings of the hub, which has no configuration file, and of install.sh. */
const OTHER_PREFIXES = ['TOOL_HUB_', 'TOOL_INSTALL_'];

/** `targets.app.cpus` → `TOOL_TARGETS__APP__CPUS`. */
export function variableName(path: readonly string[]): string {
  return PREFIX + path.map((part) => normalName(part).toUpperCase()).join('__');
}

/**
 * Applies environment variables over the file. Names in maps match without regard to case, `-` equals `_`. Lists are
 * comma-separated or YAML in brackets, maps YAML in braces. An empty variable counts as not set.
 */
export function applyVariables(
  tree: Tree,
  { environment, shape }: { environment: NodeJS.ProcessEnv; shape: Shape },
): { variables: Map<string, string>; problems: Problem[] } {
  const variables = new Map<string, string>();
  const problems = otherProblems(environment);
  const given = Object.entries(environment)
    .filter(([name, value]) => name.startsWith(PREFIX) && value !== undefined && value !== '')
    .filter(([name]) => !OTHER_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .map(([name, value = '']) => ({ name, value, segments: name.slice(PREFIX.length).toLowerCase().split('__') }))
    .filter(({ segments }) => !OTHER_VARIABLES.includes(segments.join('__')));
  // A variable of a whole map comes before those of its keys.
  given.sort((a, b) => a.segments.length - b.segments.length || (a.name < b.name ? -1 : 1));
  for (const { name, value, segments } of given) {
    const match = matchKey(segments, { shape, tree });
    if ('problem' in match) {
      problems.push({ ...match.problem, key: name, message: `${name} ${match.problem.message}` });
    } else {
      const { allowed, refused } = withoutFileOnly(readText(value, match.shape), match.shape, match.path);
      problems.push(...refused.map((key) => ({ ...fileOnly(key), key: name, message: `${name} cannot set ${key}` })));
      if (match.shape.traits.fileOnly) continue;
      setValue(tree, match.path, allowed);
      variables.set(dotted(match.path), name);
    }
  }
  return { variables, problems };
}

/** A switch with a value that is neither on nor off would silently count as off. */
function otherProblems(environment: NodeJS.ProcessEnv): Problem[] {
  return SWITCHES.flatMap((key): Problem[] => {
    const name = variableName([key]);
    const value = environment[name]?.trim() ?? '';
    if (value === '' || BOOLEANS.has(value.toLowerCase())) return [];
    const message = `${name} must be true or false, found ${JSON.stringify(value)}`;
    return [{ ...variableProblem({ severity: 'error', code: 'wrong_type', message, hint: null }), key: name }];
  });
}

type Match = { path: KeyPath; shape: Shape } | { problem: Problem };

function matchKey(segments: string[], { shape, tree }: { shape: Shape; tree: Tree }): Match {
  const path: string[] = [];
  let here = shape;
  let value: unknown = tree;
  let rest = segments;
  while (rest.length > 0) {
    const [segment = ''] = rest;
    if (here.kind === 'object') {
      const next = here.keys.get(segment);
      if (!next) return unknown({ known: [...here.keys.keys()], path, rest });
      path.push(segment);
      here = next;
      rest = rest.slice(1);
    } else if (here.kind === 'map') {
      const names = isTree(value) ? Object.keys(value) : [];
      const { matches, length } = matchName(rest, names);
      if (matches.length > 1) return ambiguous(matches);
      path.push(matches[0] ?? segment);
      here = here.of;
      rest = rest.slice(length);
    } else {
      return unknown({ known: [], path, rest });
    }
    value = isTree(value) ? value[path.at(-1) ?? ''] : undefined;
  }
  return { path, shape: here };
}

/** The names that the next segments may spell; a name that contains `__` takes several segments. */
function matchName(segments: string[], names: string[]): { matches: string[]; length: number } {
  for (let length = segments.length; length > 0; length -= 1) {
    const wanted = segments.slice(0, length).join('__');
    const matches = names.filter((name) => normalName(name) === wanted);
    if (matches.length > 0) return { matches, length };
  }
  return { matches: [], length: 1 };
}

function normalName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '_');
}

/** Parses a variable by the type of its key. Unparsable text stays text, for the type check to report. */
function readText(text: string, shape: Shape): unknown {
  switch (shape.kind) {
    case 'object':
    case 'map':
      return parseValue(text);
    case 'list':
      if (/^\s*\[/.test(text)) return parseValue(text);
      return shape.of.kind === 'value' ? text.split(',').map((item) => item.trim()) : text;
    case 'value':
      return readScalar(text.trim(), { text, type: shape.type });
    default:
      return shape satisfies never;
  }
}

const BOOLEANS = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
]);

function readScalar(trimmed: string, { text, type }: { text: string; type: string }): unknown {
  if (type === 'boolean') return BOOLEANS.get(trimmed.toLowerCase()) ?? text;
  if (type === 'text') return text;
  return /^[+-]?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : text;
}

/** The value without keys that only a file may have. */
function withoutFileOnly(value: unknown, shape: Shape | null, path: KeyPath): { allowed: unknown; refused: string[] } {
  if (shape?.traits.fileOnly) return { allowed: undefined, refused: [dotted(path)] };
  if (!isTree(value)) return { allowed: value, refused: [] };
  const refused: string[] = [];
  const allowed = createTree();
  for (const [key, of] of Object.entries(value)) {
    const inner = childShape(shape, key);
    const outcome = withoutFileOnly(of, inner, [...path, key]);
    refused.push(...outcome.refused);
    if (!inner?.traits.fileOnly) allowed[key] = outcome.allowed;
  }
  return { allowed, refused };
}

function fileOnly(key: string): Problem {
  const hint = `Write ${key} in the configuration file, which is trusted before it takes effect.`;
  return variableProblem({ severity: 'error', code: 'file_only', message: '', hint });
}

function unknown({ known, path, rest }: { known: string[]; path: string[]; rest: string[] }): Match {
  const [segment = '', ...further] = rest;
  const candidates = path.length === 0 ? [...known, ...OTHER_VARIABLES] : known;
  const word = nearest(segment, candidates);
  const suggested = word === null ? null : variableName([...path, word, ...further]);
  return {
    problem: variableProblem({
      severity: 'warning',
      code: 'unknown_variable',
      message: 'matches no configuration key and is ignored',
      hint: suggested ? `Did you mean ${suggested}?` : 'docs/configuration.md lists the variables.',
    }),
  };
}

function ambiguous(matches: string[]): Match {
  return {
    problem: variableProblem({
      severity: 'error',
      code: 'ambiguous_variable',
      message: `could mean ${matches.join(' or ')}`,
      hint: 'Rename one of them: a variable cannot distinguish them.',
    }),
  };
}

function variableProblem(facts: Pick<Problem, 'severity' | 'code' | 'message' | 'hint'>): Problem {
  return { ...facts, key: '', ...NOWHERE };
}
