// Package whatsapp sends messages by the WhatsApp Cloud API of Meta, and reads its status
// callbacks. Texts are templates that Meta has approved; package notify words them.
package whatsapp
