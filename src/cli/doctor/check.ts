/** One thing that the doctor looked at. */
export interface Check {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
  /** What to do; null where nothing is wrong. */
  readonly fix: string | null;
}

export const ok = (check: string, message: string): Check => ({
  check,
  status: 'ok',
  message,
  fix: null,
});
export const warning = (check: string, message: string, fix: string): Check => ({
  check,
  status: 'warning',
  message,
  fix,
});
export const failed = (check: string, message: string, fix: string): Check => ({
  check,
  status: 'failed',
  message,
  fix,
});
