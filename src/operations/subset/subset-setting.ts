import { connectionUrl } from '../../config/urls/connection-url.ts';
import { proposedSubsetUrl } from '../../config/urls/proposed-url.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import type { SubsetSource } from '../../engines/facets/subset.ts';
import { ENGINE_PROFILES } from '../../engines/list.ts';
import { parseUrl } from '../../engines/registry.ts';
import { findWanted } from '../../repository/select-tables.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { type CollectResult, collect } from '../../subset/collect.ts';
import { buildGraph, type SubsetSettings, withKnownNames } from '../../subset/graph.ts';
import { type Plan, planSubsetRoles } from '../../subset/plan.ts';
import type { SourceSchema } from '../../subset/source-schema.ts';
import { suggestSubset } from '../../subset/suggestion.ts';
import { shell } from '../../text/shell-word.ts';
import { cpusFor } from '../cpus-for.ts';
import { subsetDestination } from '../load/configured-destination.ts';
import { findTarget } from '../targets/find-target.ts';

export interface SubsetRequest {
  target: string;
  /** Wins over what is configured. */
  settings?: Partial<SubsetSettings>;
  /** Suggests the settings, where none are given; the databases of a target without `subset` follow from its others. */
  suggest?: boolean;
  /** Chooses other rows for `percent`. Default 1. */
  seed?: number;
  /** Looks for the rows when it is planned, so that the plan tells how many come. */
  count?: boolean;
  /** Stores the subset as a snapshot of the target as well. */
  snapshot?: boolean;
  /** Restores with the rights of the loading user, where one of its own would restore. */
  allowSuperuser?: boolean;
  cpus?: number;
  /** `false` keeps no undo copy. Default `true`. */
  undo?: boolean;
}

export const DEFAULT_SEED = 1;

export interface SubsetContext {
  source: DatabaseUrl;
  destination: DatabaseUrl;
  settings: SubsetSettings;
  /** Patterns of `snapshot.exclude_rows`: these tables are left empty, too. */
  excludeRows: string[];
  cpus: number;
}

export function settingOf(context: Context, request: SubsetRequest): SubsetContext {
  const { target: name, cpus, settings: chosen, suggest = false } = request;
  const { configuration } = context;
  const { subset, snapshot } = findTarget(configuration, name);
  const settings = subset ?? (suggest ? {} : null);
  if (!settings) {
    throw new UserError('subset_missing', `Target "${name}" has no subset`, {
      hint: `Suggest one: ${shell`tool subset ${name} --suggest`}. It belongs to targets.${name}.subset of the configuration.`,
    });
  }
  const own = (field: 'src_url' | 'dst_url') => connectionUrl(configuration, `targets.${name}.snapshot.${field}`);
  const urlOf = (field: 'src_url' | 'dst_url', text: string | undefined): DatabaseUrl => {
    if (text !== undefined) return parseUrl(text);
    throw new UserError(
      field === 'src_url' ? 'source_missing' : 'destination_missing',
      `The subset of target "${name}" has no ${field}`,
      { hint: `Set targets.${name}.subset.${field} in the configuration.` },
    );
  };
  const sourceText = subset ? connectionUrl(configuration, `targets.${name}.subset.src_url`) : own('src_url');
  const source = urlOf('src_url', sourceText);
  const proposed = subset || sourceText === undefined ? null : proposedSubsetUrl(sourceText, own('dst_url'));
  const destination = urlOf('dst_url', proposed ?? subsetDestination(configuration, name)?.text);
  if (source.engine !== destination.engine) {
    throw new UserError('subset_unsupported', `Cannot create a subset of ${source.display} in ${destination.display}`, {
      hint: `Source and destination must be databases of one engine, ${ENGINE_PROFILES.map(({ products }) => products[0]).join(' or ')}.`,
    });
  }
  return {
    source,
    destination,
    settings: { ...settings, ...chosen },
    excludeRows: snapshot?.exclude_rows ?? [],
    cpus: cpus ?? cpusFor(context, name),
  };
}

/** The settings that a source suggests, instead of the configured ones. */
export function suggestedSettings({ facts }: SubsetSource, { settings, excludeRows }: SubsetContext): SubsetSettings {
  const suggested = suggestSubset(facts, excludedBy(excludeRows, facts));
  if (suggested) return { ...settings, ...suggested };
  throw new UserError('subset_missing', 'No table of the source has rows', { hint: 'Check the source of the target.' });
}

function excludedBy(excludeRows: string[], { tables }: SourceSchema): Set<string> {
  const names = tables.map(({ name }) => name);
  return new Set(findWanted(excludeRows, names).flatMap((found) => found.tables));
}

export function planFor(
  { facts }: SubsetSource,
  { settings, excludeRows }: Pick<SubsetContext, 'settings' | 'excludeRows'>,
): Plan {
  const excluded = excludedBy(excludeRows, facts);
  const excluded_tables = [...new Set([...(settings.excluded_tables ?? []), ...excluded])];
  const known = withKnownNames(excluded.size === 0 ? settings : { ...settings, excluded_tables }, facts);
  return planSubsetRoles(buildGraph(facts, known), known);
}

export async function collectRows(
  { report }: Context,
  { source, plan, seed }: { source: SubsetSource; plan: Plan; seed: number },
): Promise<CollectResult> {
  return withStep(report, { step: 'read', label: 'Select the rows', done: 'Selected the rows' }, async () =>
    collect(plan, await source.finder(plan.graph, seed)),
  );
}
