import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { Mark } from '~/ui/Logo'
import { TextLink } from '~/ui/links'
import { PublicTitle } from './DocumentTitle'
import styles from './shell.module.css'
import { strings } from './strings'
import { ThemeSwitch } from './ThemeSwitch'

/** The frame of the help for a visitor who has not signed in. */
export default function PublicHelp() {
  const next = useLocation({ select: ({ href }) => href })
  return (
    <div className={styles.shell}>
      <PublicTitle />
      <header className={styles.bar}>
        <Link to="/" className={styles.brand}>
          <Mark />
          <span className={styles.name}>{strings.sinemora}</span>
        </Link>
        <div className={styles.end}>
          <ThemeSwitch />
          <TextLink size="md" to="/sign-in" search={{ next }}>
            {strings.signIn}
          </TextLink>
        </div>
      </header>
      <main id="content" className={styles.content}>
        <Outlet />
      </main>
    </div>
  )
}
