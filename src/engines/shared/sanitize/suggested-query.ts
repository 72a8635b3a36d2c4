export function headingOf({ column, hash }: { column: string; hash: string }): string {
  return `-- Statements of \`tool sanitize --suggest\` for columns that look like personal data and are unchanged, to add to the query.
-- Read them, change what does not fit, remove columns that may keep their values, each with a reason:
--   -- keep: ${column} reason
-- The salt in ${hash} keeps values from being guessed by their hashes: treat it as a password.`;
}
