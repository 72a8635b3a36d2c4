import type { Draft } from './check-values.ts';
import type { Finding } from './finding.ts';
import { engineOfUrl } from './url-scheme.ts';

type TargetDraft = NonNullable<NonNullable<Draft['targets']>[string]>;

interface RuledTarget {
  name: string;
  target: TargetDraft;
  /** Names of the storage profiles, those with mistakes included. */
  profiles: string[];
  /** Every source of the configuration, as `comparable` writes it, and the key that names it. */
  sources: Map<string, string>;
}

/** What concerns several keys of a target at once. */
const RULES: ((ruled: RuledTarget) => Finding[])[] = [
  schemasInOneList,
  storageProfilesExist,
  whereOrPercent,
  enginesAgree,
  destinationsAreNoSources,
];

/** Checks what a single key cannot know, on as much of the configuration as is right. */
export function checkRules({ targets = {} }: Draft, { profiles }: { profiles: string[] }): Finding[] {
  const named = Object.entries(targets).flatMap(([name, target]) => (target ? [{ name, target }] : []));
  const sources = new Map(
    named.flatMap(({ name, target }) =>
      SOURCES.flatMap((operation): [string, string][] => {
        const url = target[operation]?.src_url;
        return url === undefined ? [] : [[comparable(url), `targets.${name}.${operation}.src_url`]];
      }),
    ),
  );
  return named.flatMap((each) => RULES.flatMap((rule) => rule({ ...each, profiles, sources })));
}

const SOURCES = ['snapshot', 'subset'] as const;

function schemasInOneList({ name, target }: RuledTarget): Finding[] {
  const { include_schemas = [], exclude_schemas = [] } = target.snapshot?.schema_config ?? {};
  return exclude_schemas.flatMap((schema, index): Finding[] => {
    if (schema === undefined || !include_schemas.includes(schema)) return [];
    return [
      {
        path: ['targets', name, 'snapshot', 'schema_config', 'exclude_schemas', index],
        code: 'schema_in_both_lists',
        message: `schema '${schema}' cannot be in both include and exclude lists`,
        hint: 'Remove it from one of the lists.',
      },
    ];
  });
}

function storageProfilesExist({ name, target, profiles }: RuledTarget): Finding[] {
  const references = [
    { keys: ['storage_profile'], profile: target.storage_profile },
    { keys: ['sanitize', 'storage_profile'], profile: target.sanitize?.storage_profile },
    { keys: ['share', 'storage_profile_name'], profile: target.share?.storage_profile_name },
  ];
  return references.flatMap(({ keys, profile }): Finding[] => {
    if (profile === undefined || profiles.includes(profile)) return [];
    return [
      {
        path: ['targets', name, ...keys],
        code: 'storage_profile_not_found',
        message: `storage profile '${profile}' not found`,
        hint:
          profiles.length > 0
            ? `There is ${profiles.join(', ')} in storage_profiles.`
            : `Define it: storage_profiles.${profile}.`,
      },
    ];
  });
}

function whereOrPercent({ name, target }: RuledTarget): Finding[] {
  return (target.subset?.subset_tables ?? []).flatMap((item, index): Finding[] => {
    if (item?.where === undefined || item.percent === undefined) return [];
    return [
      {
        path: ['targets', name, 'subset', 'subset_tables', index],
        code: 'where_and_percent',
        message: `use either where or percent for ${item.table ?? 'a table'}, not both`,
        hint: 'Remove one of them.',
      },
    ];
  });
}

interface Flow {
  operation: string;
  source: string | undefined;
  destination: string | undefined;
}

/** What each operation reads and writes. */
function flowsOf({ snapshot, sanitize, subset, share }: TargetDraft): Flow[] {
  return [
    { operation: 'snapshot', source: snapshot?.src_url, destination: snapshot?.dst_url },
    { operation: 'sanitize', source: snapshot?.src_url, destination: sanitize?.dst_url },
    { operation: 'subset', source: subset?.src_url, destination: subset?.dst_url },
    { operation: 'share', source: undefined, destination: share?.dst_url },
  ];
}

function enginesAgree({ name, target }: RuledTarget): Finding[] {
  return flowsOf(target).flatMap(({ operation, source, destination }): Finding[] => {
    if (source === undefined || destination === undefined) return [];
    const [from, to] = [engineOfUrl(source), engineOfUrl(destination)];
    if (from === to) return [];
    return [
      {
        path: ['targets', name, operation, 'dst_url'],
        code: 'engines_differ',
        message: `a ${from} source cannot be loaded into a ${to} destination`,
        hint: 'Source and destination need the same engine.',
      },
    ];
  });
}

/** Only a warning: the guard of the operations compares by address, and refuses the load itself. */
function destinationsAreNoSources({ name, target, sources }: RuledTarget): Finding[] {
  return flowsOf(target).flatMap(({ operation, destination }): Finding[] => {
    const source = destination === undefined ? undefined : sources.get(comparable(destination));
    if (source === undefined) return [];
    return [
      {
        path: ['targets', name, operation, 'dst_url'],
        severity: 'warning',
        code: 'destination_is_source',
        message: `the destination is the source ${source}; a load into it is refused`,
        hint: 'Choose another database as the destination.',
      },
    ];
  });
}

/** Who connects, and how, does not make another database. */
function comparable(url: string): string {
  const place = url.replace(/^[a-z]+:\/\/(?:[^/?#]*@)?/i, '').replace(/[?#].*$/s, '');
  return `${engineOfUrl(url)}://${place}`;
}
