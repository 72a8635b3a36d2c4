/** Has secrets in its environment or its files. */
export interface RunnableProgram {
  file: string;
  args: string[];
  env: Record<string, string>;
}
