import { nearest } from '../../text/nearest.ts';
import { isAllowedDestination } from '../allowed-destinations.ts';
import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import type { KeyPath } from '../tree.ts';
import { databaseOf, engineOfUrl } from '../urls/url-scheme.ts';
import { type RuleContext, type TargetDraft, targetsOf } from './rule.ts';

interface Url {
  path: KeyPath;
  url: string;
}

export function* enginesAgree(draft: Draft): Generator<KeyProblem> {
  for (const [name, target] of targetsOf(draft)) {
    for (const { source, destination } of pairsOf(name, target)) {
      const [from, to] = [engineOfUrl(source.url), engineOfUrl(destination.url)];
      if (from === to) continue;
      yield {
        path: destination.path,
        code: 'engines_differ',
        message: `the source of target '${name}' is ${from}, its destination ${to}`,
        hint: 'A snapshot can be loaded only into its own engine.',
      };
    }
  }
}

/**
 * A destination must not be a source: an error within one target; a warning for another target's source, whose load the
 * guard refuses.
 */
export function destinationsAreNoSources(draft: Draft): KeyProblem[] {
  const targets = targetsOf(draft);
  const databases = new Map<string, string>();
  const identify = (url: string): string => {
    const database = databases.get(url) ?? databaseOf(url);
    databases.set(url, database);
    return database;
  };
  const owners = new Map<string, string>();
  for (const [name, target] of targets) {
    if (target.snapshot?.src_url !== undefined) owners.set(identify(target.snapshot.src_url), name);
  }
  const own = targets.flatMap(([name, target]) =>
    pairsOf(name, target)
      .filter(({ source, destination }) => identify(source.url) === identify(destination.url))
      .map(({ destination }) => isSource(destination, { owner: name, severity: 'error' })),
  );
  const others = [...destinationsOf(draft)].flatMap(([name, destination]): KeyProblem[] => {
    const owner = owners.get(identify(destination.url));
    if (owner === undefined || owner === name) return [];
    if (name !== null && isAllowedDestination(draft, { loaded: name, owner })) return [];
    return [isSource(destination, { owner, severity: 'warning', loaded: name })];
  });
  return [...own, ...others];
}

function pairsOf(
  name: string,
  { snapshot, sanitize, subset, share }: TargetDraft,
): { source: Url; destination: Url }[] {
  const at = (operation: string, field: string): KeyPath => ['targets', name, operation, field];
  const candidates = [
    { operation: 'snapshot', source: snapshot?.src_url, destination: snapshot?.dst_url },
    { operation: 'sanitize', source: snapshot?.src_url, destination: sanitize?.dst_url },
    { operation: 'share', source: snapshot?.src_url, destination: share?.dst_url },
    { operation: 'subset', source: subset?.src_url, destination: subset?.dst_url },
  ];
  return candidates.flatMap(({ operation, source, destination }) =>
    source === undefined || destination === undefined
      ? []
      : [
          {
            source: { path: at(operation === 'subset' ? 'subset' : 'snapshot', 'src_url'), url: source },
            destination: { path: at(operation, 'dst_url'), url: destination },
          },
        ],
  );
}

export function connectionUrls(draft: Draft): Url[] {
  const sources = targetsOf(draft).flatMap(([name, target]) =>
    (['snapshot', 'subset'] as const).flatMap((operation): Url[] => {
      const url = target[operation]?.src_url;
      return url === undefined ? [] : [{ path: ['targets', name, operation, 'src_url'], url }];
    }),
  );
  return [...sources, ...[...destinationsOf(draft)].map(([, destination]) => destination)];
}

/** Destinations with the name of their target; `null` for those of all targets. */
function* destinationsOf(draft: Draft): Generator<[string | null, Url]> {
  for (const [name, target] of targetsOf(draft)) {
    for (const operation of ['snapshot', 'sanitize', 'subset', 'share'] as const) {
      const url = target[operation]?.dst_url;
      if (url !== undefined) yield [name, { path: ['targets', name, operation, 'dst_url'], url }];
    }
  }
  const { override, defaults } = draft;
  if (override?.dst_db_url) yield [null, { path: ['override', 'dst_db_url'], url: override.dst_db_url }];
  if (defaults?.shared_target_dst_db_url) {
    yield [null, { path: ['defaults', 'shared_target_dst_db_url'], url: defaults.shared_target_dst_db_url }];
  }
}

function isSource(
  { path }: Url,
  { owner, severity, loaded = null }: { owner: string; severity: 'error' | 'warning'; loaded?: string | null },
): KeyProblem {
  const allow = `If it is meant, set targets.${owner}.allow_destination_of: [${loaded}].`;
  return {
    path,
    severity,
    code: 'destination_is_source',
    message: `this destination is the source of target '${owner}'`,
    hint: `A load never replaces a source. Choose another database.${loaded === null ? '' : ` ${allow}`}`,
  };
}

export function* allowedTargetsExist(draft: Draft, { isWritten }: RuleContext): Generator<KeyProblem> {
  const names = targetsOf(draft).map(([name]) => name);
  for (const [owner, { allow_destination_of: allowed = [] }] of targetsOf(draft)) {
    for (const [index, loaded] of allowed.entries()) {
      const path = ['targets', owner, 'allow_destination_of', index];
      if (loaded === owner) {
        const message = `target '${owner}' cannot allow itself: its own source is never its destination`;
        yield { path, code: 'wrong_value', message, hint: 'Remove it from the list.' };
      } else if (loaded !== undefined && !isWritten(['targets', loaded])) {
        const near = nearest(loaded, names);
        const hint = near === null ? 'Enter a target that may load into this source.' : `Did you mean ${near}?`;
        yield { path, code: 'wrong_value', message: `there is no target '${loaded}'`, hint };
      }
    }
  }
}
