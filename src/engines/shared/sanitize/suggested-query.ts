interface Names {
  column: string;
  hash: string;
}

/** A suggested sanitization query of these parts, with instructions for its reader before them. */
export function suggestedQuery({ column, hash }: Names, parts: string[]): string {
  const head = `-- A first sanitization query, written by \`tool sanitize --suggest\` for the columns that look like personal data.
-- Read it, change what does not fit, remove the columns that may keep their values, each with a reason:
--   -- keep: ${column} reason
-- The salt in ${hash} keeps values from being guessed by their hashes: treat it as a password.`;
  return [head, ...parts].filter((part) => part !== '').join('\n\n');
}
