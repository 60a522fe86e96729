import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useSetKiosk } from '~/ui/kiosk'
import { strings } from '../strings'
import styles from './kiosk.module.css'

const SHOWN_MS = 3_000

/** Something that Escape closes first. */
const OPEN = '[aria-modal="true"], [aria-expanded="true"][aria-haspopup]'

/** Leaves the kiosk mode: by Escape, or by a button that a moving pointer shows. */
export function LeaveKiosk() {
  const setKiosk = useSetKiosk()
  const isShown = usePointerMoves()
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector(OPEN)) setKiosk(false)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [setKiosk])
  return (
    <div className={styles.leave} data-shown={isShown || undefined}>
      <Button variant="default" size="sm" aria-keyshortcuts="Escape" onClick={() => setKiosk(false)}>
        {strings.leaveKiosk}
      </Button>
    </div>
  )
}

/** Return true while the pointer moves, and for some seconds after. */
function usePointerMoves(): boolean {
  const [moves, setMoves] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    function onMove() {
      setMoves(true)
      clearTimeout(timer)
      timer = setTimeout(() => setMoves(false), SHOWN_MS)
    }
    document.addEventListener('pointermove', onMove)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('pointermove', onMove)
    }
  }, [])
  return moves
}
