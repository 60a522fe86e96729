import { Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { readSession, sessionQuery } from '~/api/access'
import { sessionEnd } from '~/api/sessionEnd'
import type { Session } from '~/api/types'
import { SignInSteps } from './SignInSteps'
import styles from './sessionEnded.module.css'
import { strings } from './strings'

const isSame = (one: Session, other: Session | null | undefined) =>
  one.user.id === other?.user.id && one.tenant.id === other?.tenant.id

/** Over a page whose session has ended: sign in again, and the page continues with everything that was entered. */
export default function SessionEnded() {
  const queryClient = useQueryClient()
  const router = useRouter()
  const before = useRef(queryClient.getQueryData(sessionQuery.queryKey))

  function resume(session: Session) {
    // No data of another person or tenant may remain on the page.
    if (!isSame(session, before.current) || session.second_factor_due) return window.location.reload()
    queryClient.setQueryData(sessionQuery.queryKey, session)
    sessionEnd.set(false)
    void queryClient.invalidateQueries()
    void router.invalidate()
  }

  // The person may have signed in at another tab.
  useEffect(() => {
    async function look() {
      if (document.visibilityState !== 'visible') return
      const session = await readSession().catch(() => null)
      if (session) resume(session)
    }
    document.addEventListener('visibilitychange', look)
    window.addEventListener('focus', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      window.removeEventListener('focus', look)
    }
  })

  return (
    <Modal.Root opened onClose={() => {}} closeOnEscape={false} closeOnClickOutside={false} centered>
      <Modal.Overlay className={styles.cover ?? ''} backgroundOpacity={1} />
      <Modal.Content aria-label={strings.title}>
        <Modal.Body>
          <SignInSteps search={{ ended: true, next: '/' }} keepsPage onSignedIn={resume} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
