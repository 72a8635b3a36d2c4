import { profileOf } from '../../engines/list.ts';
import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import type { KeyPath } from '../tree.ts';
import { engineOfUrl } from '../urls/url-scheme.ts';
import { ADVICE, type RuleContext, targetsOf } from './rule.ts';

const OPERATIONS = ['snapshot', 'sanitize', 'subset', 'share'] as const;

/** A target without an operation is probably unfinished: a warning. */
export function targetsDoSomething(draft: Draft, { isWritten }: RuleContext): KeyProblem[] {
  return targetsOf(draft)
    .filter(([name]) => !OPERATIONS.some((operation) => isWritten(['targets', name, operation])))
    .map(([name]) => ({
      path: ['targets', name],
      ...ADVICE,
      code: 'target_without_operation',
      message: { says: 'is an empty target' },
      hint: `Give it at least one of ${OPERATIONS.join(', ')}.`,
    }));
}

export function* operationsAreComplete(draft: Draft, { isWritten }: RuleContext): Generator<KeyProblem> {
  for (const [name] of targetsOf(draft)) {
    const lacks = (operation: string, key: string): boolean => {
      const path: KeyPath = ['targets', name, operation];
      return isWritten(path) && !isWritten([...path, key]);
    };
    const missing = (code: string, key: string): KeyProblem => ({
      path: ['targets', name, 'subset'],
      at: 'key',
      code,
      message: `the subset of target '${name}' has no ${key}`,
      hint: `Set targets.${name}.subset.${key}.`,
    });
    if (lacks('subset', 'src_url')) yield missing('source_missing', 'src_url');
    if (lacks('subset', 'dst_url') && !isWritten(['override', 'dst_db_url'])) {
      yield missing('destination_missing', 'dst_url');
    }
    if (lacks('share', 'storage_profile_name')) {
      yield {
        path: ['targets', name, 'share'],
        ...ADVICE,
        code: 'share_without_storage_profile',
        message: `target '${name}' is shared, but has no storage_profile_name: only imported snapshots can be loaded`,
        hint: `Set targets.${name}.share.storage_profile_name.`,
      };
    }
  }
}

export function* schemaListsDiffer(draft: Draft): Generator<KeyProblem> {
  for (const [name, target] of targetsOf(draft)) {
    const { include_schemas = [], exclude_schemas = [] } = target.snapshot?.schema_config ?? {};
    for (const [index, schema] of exclude_schemas.entries()) {
      if (schema === undefined || !include_schemas.includes(schema)) continue;
      yield {
        path: ['targets', name, 'snapshot', 'schema_config', 'exclude_schemas', index],
        code: 'schema_in_both_lists',
        message: `schema '${schema}' cannot be in both include and exclude lists`,
        hint: 'Remove it from include_schemas or from exclude_schemas.',
      };
    }
  }
}

export function* subsetTablesChooseRows(draft: Draft, { isWritten }: RuleContext): Generator<KeyProblem> {
  for (const [name, target] of targetsOf(draft)) {
    for (const [index, item] of (target.subset?.subset_tables ?? []).entries()) {
      if (!item) continue;
      const path = ['targets', name, 'subset', 'subset_tables', index];
      const table = item.table ?? `item ${index + 1}`;
      const hint = 'Use either where or percent.';
      const [where, percent] = ['where', 'percent'].map((key) => isWritten([...path, key]));
      if (where && percent) {
        const message = `where and percent are both set for ${table}`;
        yield { path: [...path, 'percent'], code: 'wrong_value', message, hint };
      } else if (!where && !percent) {
        yield { path, code: 'wrong_value', message: `neither where nor percent is set for ${table}`, hint };
      }
    }
  }
}

export function* stepsDoOneThing(draft: Draft, { isWritten }: RuleContext): Generator<KeyProblem> {
  for (const [name, { snapshot }] of targetsOf(draft)) {
    for (const index of (snapshot?.after_load ?? []).keys()) {
      const path = ['targets', name, 'snapshot', 'after_load', index];
      const written = ['command', 'query_file'].filter((key) => isWritten([...path, key]));
      if (written.length === 1) continue;
      const says = `step ${index + 1} has ${written.length === 0 ? 'neither command nor' : 'both command and'} query_file`;
      yield {
        path,
        code: 'wrong_value',
        message: { says },
        hint: 'Give each step either command or query_file.',
      };
    }
  }
}

export function* schemaConfigNeedsSchemas(draft: Draft): Generator<KeyProblem> {
  for (const [name, { snapshot }] of targetsOf(draft)) {
    const engine = engineOfUrl(snapshot?.src_url ?? '');
    if (!snapshot?.schema_config || !engine || profileOf(engine).hasSchemas) continue;
    yield {
      path: ['targets', name, 'snapshot', 'schema_config'],
      ...ADVICE,
      code: 'schema_config_ignored',
      message: `${profileOf(engine).products[0]} ignores schema_config: a database of target '${name}' is its only schema`,
      hint: 'Remove it. Every table is in the snapshot.',
    };
  }
}
