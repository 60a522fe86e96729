import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ResetPasswordPage } from '~/features/session/ResetPasswordPage'
import { PublicTitle } from '~/features/shell/DocumentTitle'
import { strings } from '~/features/shell/strings'

export const Route = createFileRoute('/reset-password')({
  staticData: { title: strings.setNewPassword },
  component: ResetPassword,
})

function ResetPassword() {
  const [token] = useState(() => location.hash.slice(1))
  const navigate = useNavigate()
  return (
    <>
      <PublicTitle />
      <ResetPasswordPage token={token} onDone={() => void navigate({ to: '/sign-in' })} />
    </>
  )
}
