/** The states every view has beside its data: loading, empty with the next step, failed with its reason. */

import { Button, Code } from '@mantine/core'
import type { ReactNode } from 'react'
import { Problem, Unreachable } from '~/lib/problem'
import styles from './state.module.css'

export function Loading({ what }: { what: string }) {
  return (
    <div className={styles.loading} role="status">
      Loading {what}…
    </div>
  )
}

export function Empty({ title, children, action }: { title: string; children: ReactNode; action?: ReactNode }) {
  return (
    <section className={styles.state}>
      <h1>{title}</h1>
      <p>{children}</p>
      {action}
    </section>
  )
}

function RequestId({ error }: { error: unknown }) {
  return error instanceof Problem && error.requestId && error.status !== 401 && error.status !== 422 ? (
    <span className={styles.request}>
      Request <Code>{error.requestId}</Code>
    </span>
  ) : null
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : 'Something unexpected happened.'
}

/** A whole view that could not be loaded. */
export function Failed({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  return (
    <section className={styles.state} role="alert">
      <h1>{error instanceof Unreachable ? 'Sinemora cannot be reached' : `${what} could not be loaded`}</h1>
      <p>{error instanceof Unreachable ? 'This page carries on by itself as soon as it is back.' : errorText(error)}</p>
      <RequestId error={error} />
      {retry && (
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </section>
  )
}

export type Tone = 'bad' | 'warn' | 'good' | 'info'

/** A line above what it speaks of. */
export function Notice({ tone, title, children }: { tone: Tone; title?: string; children?: ReactNode }) {
  return (
    <div className={`${styles.notice} ${styles[tone]}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {title && <strong>{title}</strong>}
      {children && <span>{children}</span>}
    </div>
  )
}

/** Why something asked for was not done. */
export function ActionError({ error }: { error: unknown }) {
  return error ? (
    <Notice tone="bad">
      {errorText(error)} <RequestId error={error} />
    </Notice>
  ) : null
}
