/** A reference of a subset's catalog by the id of its relationship. */
export function referenceOf<Reference>({ references }: { references: Map<string, Reference> }, id: string): Reference {
  const reference = references.get(id);
  if (!reference) throw new Error(`the catalog has no reference ${id}`);
  return reference;
}
