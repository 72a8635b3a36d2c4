import * as v from 'valibot';

const names = v.array(v.string());
const kinds = v.object({ index: v.optional(names, []), constraint: v.optional(names, []) });

/** The engines' manifests list their objects at one of these. */
const recorded = v.union([
  v.object({ inventory: v.object({ objects: kinds }) }),
  v.pipe(
    v.object({ inventory: kinds }),
    v.transform(({ inventory }) => ({ inventory: { objects: inventory } })),
  ),
]);

/** The number of indexes and constraints that a restore creates, by the manifest's details; 0 where they are not listed. */
export function indexCountOf({ details }: { details: Record<string, unknown> }): number {
  const { success, output } = v.safeParse(recorded, details);
  if (!success) return 0;
  const { index, constraint } = output.inventory.objects;
  return index.length + constraint.length;
}
