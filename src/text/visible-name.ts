export const LONGEST_VISIBLE_NAME = 100;

/** Reports whether a person can see and type the whole name: visible characters, with spaces only between them. */
export function isVisibleName(name: string): boolean {
  return (
    name.length <= LONGEST_VISIBLE_NAME &&
    /^[^\s\p{Control}\p{Format}](?:[^\p{Control}\p{Format}]*[^\s\p{Control}\p{Format}])?$/u.test(name)
  );
}
