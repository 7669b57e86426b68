// Package whatsapp sends messages by the WhatsApp Cloud API of Meta, and reads its status
// callbacks. Texts are templates that Meta has approved; package message words them.
package whatsapp
