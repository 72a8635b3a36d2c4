export const REHEARSAL_COMMAND = {
  about: 'A command, or an .sql file. Leave empty for the steps of after_load',
  label: 'Run:',
  placeholder: 'npx prisma migrate deploy',
};

export const REHEARSAL_COPIED = 'Copied the report as Markdown';

export const NO_FINDING = 'The migration took no strong lock, and changed nothing';
