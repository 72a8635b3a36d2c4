/** What a person is asked before something is destroyed. */
export interface Question {
  /** What is about to happen, line by line. */
  plan: string[];
  /** `Replace database "app_dev" on localhost:5432?` */
  ask: string;
  /** A word that must be typed instead of a plain yes. */
  typed?: string;
}
