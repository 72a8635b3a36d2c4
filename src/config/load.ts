import type { Configuration, Problem } from './configuration.ts';
import { applyVariables } from './environment.ts';
import { findFile, type Lookup } from './find-file.ts';
import { type Finding, type Origins, toProblem } from './finding.ts';
import { configurationError, missingConfiguration } from './invalid.ts';
import { type Flaw, type Parsed, parse } from './parse.ts';
import { readText } from './read-text.ts';
import { resolvePaths } from './resolve-paths.ts';
import { settingsSchema } from './schema/settings.ts';
import { shapeOf } from './schema/shape.ts';
import { createTree } from './tree.ts';
import { validate } from './validate.ts';

export interface ReadConfiguration {
  /** `null` when there is none, or when it has errors that are not only about templates. */
  configuration: Configuration | null;
  /** In the order of the file; those about variables come last. */
  problems: Problem[];
  /** Absolute path of the file; `null` when there is none. */
  file: string | null;
}

/** The configuration in force; throws with exit 3 when it is missing or not valid. */
export async function loadConfiguration(lookup: Lookup): Promise<Configuration> {
  const { configuration, problems, file } = await readConfiguration(lookup);
  if (configuration) return configuration;
  throw configurationError(problems, { file, cwd: lookup.cwd });
}

/** The configuration together with everything that is wrong with it. */
export async function readConfiguration(lookup: Lookup): Promise<ReadConfiguration> {
  const { environment, cwd } = lookup;
  const file = await findFile(lookup);
  const parsed = file === null ? null : await parseFile(file);
  const shape = shapeOf(settingsSchema);
  const tree = parsed?.tree ?? createTree();
  const { variables, problems: ofVariables } = applyVariables(tree, { environment, shape });
  if (!parsed && variables.size === 0) {
    return { configuration: null, problems: [missingConfiguration(), ...ofVariables], file };
  }
  const ofText = parsed?.flaws.map((flaw): Problem => ({ severity: 'error', key: '', file, ...flaw })) ?? [];
  // Of a file that cannot be read nothing can be said to be missing.
  if (parsed && !parsed.tree) return { configuration: null, problems: [...ofText, ...ofVariables], file };

  const origins: Origins = { file: file !== null && parsed ? { path: file, locate: parsed.locate } : null, variables };
  const locate = (findings: Finding[]): Problem[] => findings.map((finding) => toProblem(finding, origins));
  const validated = validate(tree, { shape, environment });
  const deferred = locate(validated.deferred);
  const fatal = [...ofText, ...ofVariables, ...locate(validated.findings)];
  const problems = [...fatal, ...deferred].sort(inOrderOfTheFile);
  const { settings } = validated;
  if (!settings || fatal.some(({ severity }) => severity === 'error')) return { configuration: null, problems, file };
  resolvePaths(settings, { shape, environment, cwd, origins });
  return { configuration: { file, settings, deferred }, problems, file };
}

async function parseFile(file: string): Promise<Parsed> {
  const read = await readText(file);
  return 'text' in read ? parse(read.text) : unusable(read.flaw);
}

function unusable(flaw: Flaw): Parsed {
  const { line, column } = flaw;
  return { tree: null, flaws: [flaw], locate: () => ({ line, column }) };
}

/** Those without a place keep their order, behind those with one. */
function inOrderOfTheFile(a: Problem, b: Problem): number {
  const [first, second] = [a.line ?? Number.MAX_SAFE_INTEGER, b.line ?? Number.MAX_SAFE_INTEGER];
  return first - second || (a.column ?? 0) - (b.column ?? 0);
}
