// Adding a passkey, and signing in with one. The forms stay hidden where the browser has no passkeys, and at
// an address that is not their domain.
'use strict'

const toBytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
const toText = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

const worksHere = (domain) => window.PublicKeyCredential && (location.hostname === domain || location.hostname.endsWith('.' + domain))

// ask gets the options of a form, lets the person use the passkey, and puts the answer into the form.
const ask = async (form, choice = {}) => {
  const response = await fetch(form.dataset.options, { method: 'POST', body: new URLSearchParams(new FormData(form)), signal: choice.signal })
  if (!response.ok) throw response.status
  const { challenge_id: id, options: publicKey } = await response.json()
  publicKey.challenge = toBytes(publicKey.challenge)
  if (publicKey.user) publicKey.user.id = toBytes(publicKey.user.id)
  for (const known of publicKey.excludeCredentials || []) known.id = toBytes(known.id)
  const credential = await navigator.credentials[publicKey.user ? 'create' : 'get']({ publicKey, ...choice })
  const answer = {
    id: credential.id, rawId: toText(credential.rawId), type: credential.type, clientExtensionResults: credential.getClientExtensionResults(), response: {}
  }
  if (credential.authenticatorAttachment) answer.authenticatorAttachment = credential.authenticatorAttachment
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']) {
    if (credential.response[name]) answer.response[name] = toText(credential.response[name])
  }
  if (credential.response.getTransports) answer.response.transports = credential.response.getTransports()
  form.elements.challenge_id.value = id
  form.elements.credential.value = JSON.stringify(answer)
  const remember = document.querySelector('form:not([data-passkey]) [name=remember]')
  if (remember) form.elements.remember.value = remember.checked ? 'yes' : ''
  form.submit()
}

// offer lets the number field offer passkeys. A challenge lasts 5 minutes, so it asks for a new one after 4. It
// returns a function that ends the offer: a browser has one request at a time.
const offer = (form) => {
  let request, askedAt
  const renew = () => {
    if (document.visibilityState !== 'visible' || Date.now() - askedAt < 240000) return
    request?.abort()
    request = new AbortController()
    askedAt = Date.now()
    ask(form, { mediation: 'conditional', signal: request.signal }).catch(() => {})
  }
  renew()
  document.addEventListener('visibilitychange', renew)
  const timer = setInterval(renew, 10000)
  return () => {
    document.removeEventListener('visibilitychange', renew)
    clearInterval(timer)
    request?.abort()
  }
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!worksHere(form.dataset.passkey)) continue
  form.closest('[hidden]').hidden = false
  document.querySelector('[data-no-passkeys]')?.remove()
  const failed = form.querySelector('[data-failed]')
  let end = () => {}
  if ('offers' in form.dataset) {
    PublicKeyCredential.isConditionalMediationAvailable?.().then((available) => { if (available) end = offer(form) }, () => {})
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    failed.hidden = true
    end()
    ask(form).catch(() => {
      failed.hidden = false
      delete form.dataset.sent
    })
  })
}

// The form of the code says whether this device can have a passkey.
for (const field of document.querySelectorAll('[data-passkeys-for]')) {
  if (!worksHere(field.dataset.passkeysFor)) continue
  PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable().then((available) => { field.value = available ? 'yes' : '' }, () => {})
}

// The device removes a passkey from its list that the service does not know.
for (const { dataset: { unknownPasskey: credentialId, domain: rpId } } of document.querySelectorAll('[data-unknown-passkey]')) {
  if (worksHere(rpId)) PublicKeyCredential.signalUnknownCredential?.({ rpId, credentialId }).catch(() => {})
}
