/** Reports whether the server computes a column, by its EXTRA in information_schema.COLUMNS. */
export function isGenerated(extra: string): boolean {
  return /\b(STORED|VIRTUAL|PERSISTENT|INVISIBLE) GENERATED\b/i.test(extra);
}

/** Returns the columns that rows are dumped and loaded with, in their order in the table. */
export function nonGeneratedColumns<Column extends { generated: boolean }>({
  columns,
}: {
  columns: Column[];
}): Column[] {
  return columns.filter(({ generated }) => !generated);
}
