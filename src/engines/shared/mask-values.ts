/**
 * Masks the values of rows that messages of servers quote, also where a program prints them.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function maskValues(text: string): string {
  return FORMS.reduce((masked, form) => masked.replace(form, (_, before: string) => `${before}***`), text);
}

const FORMS = [
  // Key (email)=(ann@example.com) is duplicated. Failing row contains (1, ann).
  /(\)=\()[^\n]*(?=\))/g,
  /(\bFailing row contains \()[^\n]*(?=\))/gi,
  // invalid input syntax for type integer: "ann"
  /((?:invalid|malformed|out of range)[^\n"]*: ")[^\n]*(?=")/gi,
  // Duplicate entry 'ann@example.com' for key 'email'. Incorrect integer value: 'ann' for column 'age'
  /(\bDuplicate entry ')[^\n]*(?=' for key)/gi,
  /(\b(?:Incorrect|Truncated incorrect|Invalid) [^\n']*value: ')[^\n]*?(?=')/gi,
];
