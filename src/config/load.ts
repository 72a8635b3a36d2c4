import { dirname } from 'node:path';
import type { Mode, Problem } from '../results/configuration/configuration-results.ts';
import type { Report } from '../runtime/events.ts';
import { readAwsProfiles } from './aws-profiles.ts';
import { type ConfigFile, type FileRequest, readConfigFile } from './config-file.ts';
import { type Configuration, NOWHERE } from './configuration.ts';
import { applyVariables } from './environment.ts';
import { replacementOf } from './keys/old-keys.ts';
import { removeUnknownKeys } from './keys/remove-unknown-keys.ts';
import { modeOf } from './mode.ts';
import { concernsOneCommand, withoutBrokenProfiles } from './problems/broken-profiles.ts';
import { checkValues, type Draft } from './problems/check-values.ts';
import { invalidConfiguration } from './problems/invalid-configuration.ts';
import { type KeyProblem, type Origins, toProblem } from './problems/key-problem.ts';
import { takeMisnamedTargets } from './problems/misnamed-targets.ts';
import { resolvePaths } from './resolve-paths.ts';
import type { RuleContext } from './rules/rule.ts';
import { applyRules, RULES } from './rules/rules.ts';
import { othersCannotRead } from './rules/secrets-file.ts';
import { settingsSchema } from './schema/settings.ts';
import { shapeOf } from './schema/shape.ts';
import { takeFromKeychain } from './secrets/key-in-keychain.ts';
import { openValues } from './secrets/open-values.ts';
import { createTree, dotted, type Tree, valueAt } from './tree.ts';
import type { CoveredFile } from './trust/covered-files.ts';
import { requireTrust } from './trust/require-trust.ts';
import { fillUrls } from './urls/fill-urls.ts';
import { joinTunnels } from './urls/join-tunnels.ts';
import { variablesOf } from './urls/template.ts';
import { addUrlTarget, targetConfigured } from './urls/url-target.ts';

export interface LoadOptions extends FileRequest {
  report?: Report;
}

export interface Inspection {
  file: string | null;
  /** The user's own file, when it is not read because `./tool.yml` exists. */
  shadowed: string | null;
  text: string;
  mode: Mode;
  /** `null` when an error prevents every command. */
  configuration: Configuration | null;
  /** All problems, deferred ones included, in the order of the file. */
  problems: Problem[];
  written: Tree;
  /** The valid part in force; `null` when nothing can be read. */
  values: Draft | null;
  origins: Origins;
}

export async function loadConfiguration({ report, ...request }: LoadOptions): Promise<Configuration> {
  const { configuration, problems, file } = await inspectConfiguration(request);
  if (!configuration) throw invalidConfiguration(problems, request.urls && file === null ? URLS_HINT : undefined);
  for (const { severity, code, message, hint } of problems) {
    const advice = hint === null ? '' : `. ${hint}`;
    const isNews = severity === 'warning' ? !LEFT_TO_THE_CHECK.has(code) : code === 'invalid_name';
    if (isNews) report?.({ event: 'warning', code, message: `${message}${advice}` });
  }
  return configuration;
}

const URLS_HINT = 'Correct --from or --to, or create a configuration: tool config init';

/** Advice about a working file: for `config check` only. */
const LEFT_TO_THE_CHECK = new Set([
  'cli_profile_not_found',
  'cli_profile_wins',
  'credentials_not_found',
  'direct_credentials',
  'originals_shared',
  'schema_config_ignored',
  'share_without_storage_profile',
  'storage_key_unused',
]);

/** The guard refuses a load into a source, with its own exit code; other commands continue. */
const LEFT_TO_THE_GUARD = new Set(['destination_is_source']);

/** Reads file and environment and returns every problem. Throws only for an untrusted file of the current folder. */
export async function inspectConfiguration(request: FileRequest): Promise<Inspection> {
  const { environment, cwd, urls } = request;
  const file = await readConfigFile(request);
  const trusted = file ? await requireTrust(file, request) : [];
  const shape = shapeOf(settingsSchema);
  const tree = file?.source.tree ?? createTree();
  const exposed = file ? othersCannotRead(file, shape) : [];
  const { variables, problems: variableProblems } = applyVariables(tree, { environment, shape });
  if (urls && valueAt(tree, ['targets', urls.name]) !== undefined) throw targetConfigured(urls.name);
  const flags = urls && addUrlTarget(tree, urls);
  for (const [key, flag] of flags ?? []) variables.set(key, flag);
  const origins: Origins = { file: file?.path ?? null, source: file?.source ?? null, variables };
  if (!file && variables.size === 0) return nothingConfigured(variableProblems, origins);

  const locate = (found: KeyProblem[]) => found.map((problem) => toProblem(problem, origins));
  const base = beginningOf(file, tree, origins);
  const { written } = base;
  const flaws = file ? flawsOf(file) : [];
  // Missing keys of an unreadable file are no problems.
  if (flaws.length > 0) {
    return { ...base, configuration: null, problems: [...flaws, ...variableProblems], values: null };
  }

  const unknown = removeUnknownKeys(tree, shape);
  const locked = await takeFromKeychain(tree, origins);
  const secrets = openValues(tree);
  const { problems: unfilled, blanks } = fillUrls(tree, { shape, variables: variablesOf(environment) });
  secrets.openFilled();
  joinTunnels(tree, blanks);
  const misnamed = takeMisnamedTargets(tree);
  const { settings: valid, draft, problems: invalid } = checkValues(tree, shape);
  const surroundings: RuleContext = {
    isWritten: (path) => (valueAt(written, path) ?? null) !== null,
    environment,
    awsProfiles: Object.keys(draft.storage_profiles ?? {}).length > 0 ? await readAwsProfiles(environment) : new Map(),
  };
  const unruly = applyRules(RULES, draft, surroundings);
  const wrong = secrets.withoutValues([...withoutRenamed(invalid, unknown), ...unruly]);
  const found = [...unknown, ...locked, ...secrets.problems(), ...wrong];
  const narrow = found.filter(concernsOneCommand);
  const broken = found.filter((problem) => !narrow.includes(problem));
  const settings = withoutBrokenProfiles({ settings: valid, draft, invalid }, { problems: narrow, shape });
  const queryFiles = new Map<string, CoveredFile>();
  const folders = [...(file ? [dirname(file.path)] : []), cwd];
  const missing = settings ? await resolvePaths(settings, { folders, environment, queryFiles, trusted }) : [];

  const deferred = locate([...narrow, ...secrets.withoutValues([...unfilled, ...missing])]);
  const skipped = locate(misnamed.problems);
  const problems = [...locate([...exposed, ...broken]), ...deferred, ...skipped, ...variableProblems].sort(byPlace);
  const stops = ({ severity, code }: Problem): boolean => severity === 'error' && !LEFT_TO_THE_GUARD.has(code);
  const isHarmless = (problem: Problem): boolean => deferred.includes(problem) || skipped.includes(problem);
  const usable = settings && !problems.some((problem) => stops(problem) && !isHarmless(problem));
  const configuration: Configuration | null = usable
    ? {
        file: origins.file,
        settings,
        deferred,
        blanks,
        queryFiles,
        ...(flags && { flags }),
        ...(skipped.length > 0 && { misnamed: misnamed.targets }),
      }
    : null;
  return { ...base, configuration, problems, values: draft };
}

/**
 * Checks syntax, keys and values of an untrusted file of the current folder. No variable but TOOL_SECRET_KEY is read,
 * no path is followed, and nothing of the file is in force.
 */
export async function inspectUntrusted(request: FileRequest): Promise<Inspection> {
  const file = await readConfigFile(request);
  if (!file) return nothingConfigured([], { file: null, source: null, variables: new Map() });
  const origins: Origins = { file: file.path, source: file.source, variables: new Map() };
  const shape = shapeOf(settingsSchema);
  const { tree } = file.source;
  const base = beginningOf(file, tree, origins);
  const notice: Problem = { ...NOT_TRUSTED, file: file.path };
  const flaws = flawsOf(file);
  if (flaws.length > 0) return { ...base, configuration: null, problems: [notice, ...flaws], values: null };
  if (request.environment.TOOL_SECRET_KEY) tree.secret_key = request.environment.TOOL_SECRET_KEY;
  const unknown = removeUnknownKeys(tree, shape);
  const secrets = openValues(tree);
  fillUrls(tree, { shape, variables: () => undefined });
  secrets.openFilled();
  const { problems: misnamed } = takeMisnamedTargets(tree);
  const { problems: invalid } = checkValues(tree, shape);
  const wrong = secrets.withoutValues(withoutRenamed(invalid, unknown));
  const problems = [...unknown, ...wrong, ...misnamed].map((problem) => toProblem(problem, origins)).sort(byPlace);
  return { ...base, configuration: null, problems: [notice, ...problems], values: null };
}

function beginningOf(file: ConfigFile | null, tree: Tree, origins: Origins) {
  const { shadows = null, text = '' } = file ?? {};
  return { file: origins.file, shadowed: shadows, text, mode: modeOf(tree), written: structuredClone(tree), origins };
}

const NOT_TRUSTED: Problem = {
  severity: 'warning',
  code: 'configuration_untrusted',
  key: '',
  message: 'not trusted: only syntax, keys and values were checked, and nothing of the file was used',
  hint: 'Trust it, and check again: tool trust',
  ...NOWHERE,
};

function flawsOf({ path, source }: ConfigFile): Problem[] {
  return source.flaws.map((flaw) => ({ ...flaw, severity: 'error', key: '', file: path }));
}

/** A key of DBSnapper already has a problem, so its name here is not reported as missing. */
function withoutRenamed(invalid: KeyProblem[], unknown: KeyProblem[]): KeyProblem[] {
  const renamed = new Set(unknown.map(({ path }) => replacementOf(path)));
  return invalid.filter(({ code, path }) => code !== 'missing_key' || !renamed.has(dotted(path)));
}

function nothingConfigured(problems: Problem[], origins: Origins): Inspection {
  const missing: Problem = {
    severity: 'error',
    code: 'no_configuration',
    key: '',
    message: 'no configuration found: neither ./tool.yml nor ~/.config/tool/tool.yml, and no variables',
    hint: 'Create one: tool config init. Or name the databases: tool load --from URL --to URL',
    ...NOWHERE,
  };
  const nothing = { shadowed: null, text: '', configuration: null, written: createTree(), values: null };
  return { ...nothing, file: null, mode: 'local', problems: [missing, ...problems], origins };
}

function byPlace(a: Problem, b: Problem): number {
  return (a.line ?? Infinity) - (b.line ?? Infinity) || (a.column ?? 0) - (b.column ?? 0) || 0;
}
