/** The states of a view without data: loading, empty with the next step, failed with its reason. */

import { Button, Code } from '@mantine/core'
import type { ReactNode } from 'react'
import { useConnection } from '~/lib/connection'
import { Problem, Unreachable } from '~/lib/problem'
import styles from './state.module.css'
import { strings } from './strings'

export function Loading({ what }: { what: string }) {
  return (
    <div className={styles.loading} role="status">
      {strings.loading(what)}
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

/** The object of a page or an action is not there: there is nothing to search for in the log of the server. */
const isUnknown = (error: unknown): error is Problem =>
  error instanceof Problem && error.status === 404 && error.code.endsWith('_unknown')

/** A mesh has no measurements yet: a state that passes, no fault. */
const isUnmeasured = (error: unknown) => error instanceof Problem && error.code === 'matrix_missing'

function RequestId({ error }: { error: unknown }) {
  if (isUnknown(error) || isUnmeasured(error)) return null
  return error instanceof Problem && error.requestId && error.status !== 401 && error.status !== 422 ? (
    <span className={styles.request}>
      {strings.requestId} <Code>{error.requestId}</Code>
    </span>
  ) : null
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : strings.unexpectedError
}

/** A whole view that could not be loaded. */
export function Failed({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  if (isUnknown(error)) {
    return (
      <section className={styles.state} role="alert">
        <h1>{errorText(error).replace(/\.$/, '')}</h1>
        <p>{strings.notFoundLead}</p>
      </section>
    )
  }
  return (
    <section className={styles.state} role="alert">
      <h1>{error instanceof Unreachable ? strings.unreachable : strings.loadFailed(what)}</h1>
      <p>{error instanceof Unreachable ? strings.reconnects : errorText(error)}</p>
      <RequestId error={error} />
      {retry && (
        <Button variant="default" onClick={retry}>
          {strings.tryAgain}
        </Button>
      )}
    </section>
  )
}

export type Tone = 'bad' | 'warn' | 'good' | 'info'

/** A message above the part of the page it is about. */
export function Notice({ tone, title, children }: { tone: Tone; title?: string; children?: ReactNode }) {
  return (
    <div className={styles.notice} data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      {title && <strong>{title}</strong>}
      {children && <span>{children}</span>}
    </div>
  )
}

/**
 * The reason why an action failed, after the fields of its form: what they show is not repeated. A server that could
 * not be reached is no reason any longer once it responds.
 */
export function ActionError({ error }: { error: unknown }) {
  const { away } = useConnection()
  if (!error) return null
  if (error instanceof Unreachable && !away) return <Notice tone="info">{strings.reachableAgain}</Notice>
  const text = error instanceof Problem ? error.rest() : errorText(error)
  return text === null ? null : (
    <Notice tone={isUnmeasured(error) ? 'info' : 'bad'}>
      {text} {isUnknown(error) && strings.deletedMeanwhile} <RequestId error={error} />
    </Notice>
  )
}
