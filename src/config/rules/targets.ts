import type { Draft } from '../check-values.ts';
import type { Finding } from '../finding.ts';
import { engineOfUrl } from '../url-scheme.ts';
import { targetsOf } from './rule.ts';

const OPERATIONS = ['snapshot', 'sanitize', 'subset', 'share'] as const;

/** A target without an operation is most likely unfinished, which hurts nobody. */
export function targetsDoSomething(draft: Draft): Finding[] {
  return targetsOf(draft)
    .filter(([, target]) => OPERATIONS.every((operation) => target[operation] === undefined))
    .map(([name]) => ({
      path: ['targets', name],
      severity: 'warning',
      at: 'key',
      code: 'target_without_operation',
      message: { says: 'does nothing' },
      hint: `Give it at least one of ${OPERATIONS.join(', ')}.`,
    }));
}

export function schemaListsDiffer(draft: Draft): Finding[] {
  return targetsOf(draft).flatMap(([name, target]) => {
    const { include_schemas = [], exclude_schemas = [] } = target.snapshot?.schema_config ?? {};
    return exclude_schemas.flatMap((schema, index): Finding[] => {
      if (schema === undefined || !include_schemas.includes(schema)) return [];
      return [
        {
          path: ['targets', name, 'snapshot', 'schema_config', 'exclude_schemas', index],
          code: 'schema_in_both_lists',
          message: `schema '${schema}' cannot be in both include and exclude lists`,
          hint: 'Remove it from include_schemas or from exclude_schemas.',
        },
      ];
    });
  });
}

/** The rows to begin a subset with are chosen by a condition or by a share of them. */
export function subsetTablesChooseRows(draft: Draft): Finding[] {
  return targetsOf(draft).flatMap(([name, target]) =>
    (target.subset?.subset_tables ?? []).flatMap((item, index): Finding[] => {
      const both = item?.where !== undefined && item.percent !== undefined;
      const neither = item?.where === undefined && item?.percent === undefined;
      if (item?.table === undefined || !(both || neither)) return [];
      const path = ['targets', name, 'subset', 'subset_tables', index];
      const hint = 'Use either where or percent.';
      return both
        ? [
            {
              path: [...path, 'percent'],
              code: 'where_and_percent',
              message: `where and percent are both set for ${item.table}`,
              hint,
            },
          ]
        : [{ path, code: 'where_or_percent', message: `neither where nor percent is set for ${item.table}`, hint }];
    }),
  );
}

/** MySQL has no schemas inside a database. */
export function schemaConfigIsForPostgres(draft: Draft): Finding[] {
  return targetsOf(draft)
    .filter(([, { snapshot }]) => snapshot?.schema_config && engineOfUrl(snapshot.src_url ?? '') === 'mysql')
    .map(([name]) => ({
      path: ['targets', name, 'snapshot', 'schema_config'],
      severity: 'warning',
      at: 'key',
      code: 'schema_config_ignored',
      message: `schema_config is ignored: the source of target '${name}' is mysql, which has no schemas in a database`,
      hint: 'Remove it.',
    }));
}
