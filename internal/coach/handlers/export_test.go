package handlers

// AttentionDetail is attentionDetail.
var AttentionDetail = attentionDetail
