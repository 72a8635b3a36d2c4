import { openDatabase } from '../../engines/open-database.ts';
import type { SubsetExplanation } from '../../results/subset-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { explainRow, type Link } from '../../subset/explain.ts';
import type { Plan } from '../../subset/plan.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { collectRows, DEFAULT_SEED, planFor, type SubsetRequest, settingOf } from './subset-setting.ts';

/** Why a row is in the subset: found out anew from the source, which therefore must be as it was. */
export async function explainSubset(
  given: Context,
  request: SubsetRequest & { row: string },
): Promise<SubsetExplanation> {
  const context = await withTargetUrls(given, request.target, { source: true });
  const setting = settingOf(context, request);
  const { table, key } = readRow(request.row);
  await using source = await openDatabase(context, setting.source).subset.openSource(setting.cpus);
  const plan = planFor(source, setting);
  const row = plan.graph.tables.has(table) ? await source.findRow(table, key.split(',')) : null;
  if (row === null) {
    throw rowUnknown(`The source has no row ${request.row}`);
  }
  const seed = request.seed ?? DEFAULT_SEED;
  const collected = await collectRows(context, { source, plan, seed });
  const finder = await source.finder(plan.graph, seed);
  const links = await explainRow({ plan, finder, collected }, { table, row });
  const chain =
    links &&
    (await Promise.all(
      links.map(async (link) => ({
        table: link.table,
        key: await source.nameRow(link.table, link.row),
        why: whyOf(link, plan),
      })),
    ));
  return { target: request.target, row: { table, key }, chain };
}

/** `schema.table:key`, the key of several columns separated by commas. */
function readRow(text: string): { table: string; key: string } {
  const at = text.indexOf(':');
  if (at > 0) return { table: text.slice(0, at), key: text.slice(at + 1) };
  throw rowUnknown(`"${text}" names no row`);
}

function rowUnknown(message: string): UserError {
  return new UserError('row_unknown', message, {
    hint: 'Name it by its table and primary key: public.orders:17, and by several columns public.order_item:17,2',
  });
}

function whyOf({ table, by }: Link, { rules, settings }: Plan): string {
  if (by === null) {
    if (rules.get(table) === 'copy') return 'its table is in copy_tables';
    const rule = settings.subset_tables?.find((item) => item.table === table);
    return rule?.where === undefined ? `among the ${rule?.percent} percent of subset_tables` : `where ${rule.where}`;
  }
  const { name, columns } = by.relationship;
  return by.direction === 'refers'
    ? `refers by ${columns.join(', ')} (${name}) to`
    : `is referred to by ${columns.join(', ')} (${name}) of`;
}
