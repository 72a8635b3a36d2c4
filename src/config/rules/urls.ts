import type { Draft } from '../check-values.ts';
import type { Finding } from '../finding.ts';
import type { KeyPath } from '../tree.ts';
import { databaseOf, engineOfUrl } from '../url-scheme.ts';
import { type TargetDraft, targetsOf } from './rule.ts';

interface Url {
  path: KeyPath;
  url: string;
}

/** Source and destination of one target are of one engine. */
export function enginesAgree(draft: Draft): Finding[] {
  return targetsOf(draft).flatMap(([name, target]) =>
    pairsOf(name, target).flatMap(({ source, destination }): Finding[] => {
      const [from, to] = [engineOfUrl(source.url), engineOfUrl(destination.url)];
      if (from === to) return [];
      return [
        {
          path: destination.path,
          code: 'engines_differ',
          message: `the source of target '${name}' is ${from}, its destination ${to}`,
          hint: 'A snapshot can be loaded only into the engine that it was taken from.',
        },
      ];
    }),
  );
}

/**
 * A destination is never a source. Within a target that is an error; a source of another target may be meant as one
 * link of a chain, but loading into it will be refused, so it is a warning.
 */
export function destinationsAreNoSources(draft: Draft): Finding[] {
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
      .map(({ destination }) => isSource(destination, name, 'error')),
  );
  const others = [...destinationsOf(draft)].flatMap(([name, destination]): Finding[] => {
    const owner = owners.get(identify(destination.url));
    return owner === undefined || owner === name ? [] : [isSource(destination, owner, 'warning')];
  });
  return [...own, ...others];
}

/** Every destination with the source whose rows come into it. */
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

/** Every connection URL. */
export function connectionUrls(draft: Draft): Url[] {
  const sources = targetsOf(draft).flatMap(([name, target]) =>
    (['snapshot', 'subset'] as const).flatMap((operation): Url[] => {
      const url = target[operation]?.src_url;
      return url === undefined ? [] : [{ path: ['targets', name, operation, 'src_url'], url }];
    }),
  );
  return [...sources, ...[...destinationsOf(draft)].map(([, destination]) => destination)];
}

/** All destinations, each with the name of its target; those of no target have `null`. */
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

function isSource({ path }: Url, owner: string, severity: 'error' | 'warning'): Finding {
  return {
    path,
    severity,
    code: 'destination_is_source',
    message: `this destination is the source of target '${owner}'`,
    hint: 'Nothing is ever loaded into a source. Choose another database.',
  };
}
