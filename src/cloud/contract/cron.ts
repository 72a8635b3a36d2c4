import { CronExpressionParser } from 'cron-parser';

/** pg-boss would also store seconds, macros and special characters. */
const FIVE_FIELDS = /^(?:(?:[\d*,/-]|[a-z]{3})+(?: (?!$)|$)){5}$/i;
/** Cron of Unix has steps of ranges only. */
const STEP_OF_ONE_VALUE = /(?:^|[ ,])\w+\//;

/** Reports whether a text has the five fields of cron: minute, hour, day, month, day of the week. */
export function isCron(text: string): boolean {
  if (!FIVE_FIELDS.test(text) || STEP_OF_ONE_VALUE.test(text)) return false;
  try {
    CronExpressionParser.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reports whether a text names a time zone of the IANA database; an offset does not. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
