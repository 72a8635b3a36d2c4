export const LONGEST_VISIBLE_NAME = 100;

/** Control and format characters, lone surrogates, and what is drawn as nothing, such as U+3164. */
const INVISIBLE = /[[\p{Control}\p{Format}\p{Surrogate}\p{Default_Ignorable_Code_Point}]--[\p{Variation_Selector}]]/v;

/** Reports whether a person can see and type the whole name: visible characters, with spaces only between them. */
export function isVisibleName(name: string): boolean {
  return name !== '' && name.length <= LONGEST_VISIBLE_NAME && name.trim() === name && !INVISIBLE.test(name);
}
