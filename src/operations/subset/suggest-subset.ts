import type { SubsetSuggestion } from '../../results/subset-results.ts';
import type { Context } from '../../runtime/context.ts';
import { planSubset } from './subset.ts';
import type { SubsetRequest } from './subset-setting.ts';

/** Suggests the settings of a subset, and counts the rows that it would have. Changes and stores nothing. */
export async function suggestSubsetSettings(context: Context, request: SubsetRequest): Promise<SubsetSuggestion> {
  const { plan, settings } = await planSubset(context, { ...request, suggest: true, count: true });
  const { subset_tables = [], copy_tables = [], excluded_tables = [] } = settings;
  return {
    target: plan.target,
    source: plan.source,
    destination: plan.destination.url,
    subset_tables: subset_tables.map(({ table, percent = 100 }) => ({ table, percent })),
    copy_tables,
    excluded_tables,
    tables: plan.tables,
  };
}
