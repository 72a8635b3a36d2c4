interface Names {
  column: string;
  hash: string;
}

/** Instructions for the reader of a suggested sanitization query. */
export function headingOf({ column, hash }: Names): string {
  return `-- A first sanitization query, written by \`tool sanitize --suggest\` for the columns that look like personal data.
-- Read it, change what does not fit, remove the columns that may keep their values, each with a reason:
--   -- keep: ${column} reason
-- The salt in ${hash} keeps values from being guessed by their hashes: treat it as a password.`;
}
